/** Why a catalog document is refused. */
import { Problem } from '../../kernel/problem.js'
import type { CatalogChange } from './difference.js'
import type { CatalogProblem } from './document.js'
import { join } from './document-path.js'
import { type DefinitionOf, definitionsOf, type PlannedChange } from './plan.js'

/** The message holds the first few problems, for people; `details.problems` all of them. */
export function catalogRefused(problems: readonly CatalogProblem[]): Problem {
  const shown = problems.slice(0, 5).map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
  const more = problems.length > shown.length ? ` … and ${problems.length - shown.length} more` : ''
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', `The catalog has ${count}: ${shown.join('; ')}${more}`, {
    details: { problems },
  })
}

interface Moved {
  expectedVersion: string
  /** Of the catalog in force. */
  version: string
  /** What applying the document would do to the catalog in force, or why it can no longer be applied to it. */
  outcome: { changes: CatalogChange[] } | { problems: readonly CatalogProblem[] }
}

/** Somebody else was faster. `details` has what is needed to see what they did. */
export function catalogMoved({ expectedVersion, version, outcome }: Moved): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'CATALOG_VERSION_MISMATCH',
    `The catalog is not at version ${JSON.stringify(expectedVersion)} but at "${version}": somebody else has changed it. Read it again, and make your change in that.`,
    { details: { expectedVersion, version, ...outcome } },
  )
}

/** Of the definitions that were archived: what never changes, should one of them come back. */
export interface ArchivedDefinitions {
  feature: Pick<DefinitionOf['feature'], 'refId' | 'type' | 'meter'>[]
  plan: Pick<DefinitionOf['plan'], 'refId' | 'product'>[]
  addon: Pick<DefinitionOf['addon'], 'refId' | 'product'>[]
}

const sections = { feature: 'features', plan: 'plans', addon: 'addons' } as const

/** Definitions that take the refId of an archived one and are something else than it was: its holders would be left with a mix of both. */
export function checkRevived(changes: readonly PlannedChange[], archived: ArchivedDefinitions): CatalogProblem[] {
  const problemsOf = (kind: keyof ArchivedDefinitions): CatalogProblem[] => {
    const before = new Map(archived[kind].map((definition) => [definition.refId, definition]))
    return definitionsOf(kind, changes).flatMap((definition) => {
      const was = before.get(definition.refId)
      const path = `${sections[kind]}[${JSON.stringify(definition.refId)}]`
      return Object.entries(was ?? {})
        .filter(([key, value]) => definition[key as keyof typeof definition] !== value)
        .map(([key, value]) => ({
          path: join(path, key),
          message: `never changes: it was ${value} when this was archived; choose another refId`,
        }))
    })
  }
  return [...problemsOf('feature'), ...problemsOf('plan'), ...problemsOf('addon')]
}
