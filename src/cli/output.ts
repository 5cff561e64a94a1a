/** What is printed for people. */

/** A change of the catalog, as `applyCatalog` answers it. */
export interface CatalogChange {
  kind: string
  refId: string
  action: string
  fields: readonly { path: string; from: unknown; to: unknown }[]
}

export function describeChange({ kind, refId, action, fields }: CatalogChange): string {
  const value = (given: unknown) => (given === null ? '–' : JSON.stringify(given))
  return [`  ${action} ${kind} ${refId}`, ...fields.map(({ path, from, to }) => `      ${path}: ${value(from)} → ${value(to)}`)].join('\n')
}

/** A place in a catalog document, and what is wrong with it. */
export interface CatalogProblem {
  path: string
  message: string
}

export function describeProblems(problems: readonly CatalogProblem[]): string {
  const lines = problems.map(({ path, message }) => `  ${path === '' ? message : `${path} ${message}`}`)
  return [`The document was refused (${lines.length} ${lines.length === 1 ? 'problem' : 'problems'}):`, ...lines].join('\n')
}

export function table(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** An environment as both doors show it. */
export interface ShownEnvironment {
  id: string
  refId: string
  displayName: string
  isTest: boolean
  hasPersistentCache: boolean
  persistentCacheQueueUrl: string | null
  allowsUnsignedClientReads: boolean
  createdAt: string
}

export function describeEnvironments(environments: readonly ShownEnvironment[]): string {
  const rows = environments.map((one) => [one.id, one.refId, one.displayName, kindsOf(one).join(', '), one.createdAt])
  return table(['ID', 'REFID', 'NAME', 'SET TO', 'CREATED'], rows)
}

/** What an environment is set to, in words. */
const kindsOf = ({ isTest, hasPersistentCache, persistentCacheQueueUrl, allowsUnsignedClientReads }: ShownEnvironment) => [
  ...(isTest ? ['test'] : []),
  ...(hasPersistentCache ? [persistentCacheQueueUrl === null ? 'persistent cache' : 'persistent cache through SQS'] : []),
  ...(allowsUnsignedClientReads ? ['unsigned client reads'] : []),
]

export function describePersistentCache({ refId, id, hasPersistentCache, persistentCacheQueueUrl }: ShownEnvironment): string {
  if (!hasPersistentCache) return `Changes of environment "${refId}" go to no queue any more`
  return `Changes of environment "${refId}" go to the queue ${persistentCacheQueueUrl ?? `environment-${id}`}`
}

/** A key as both doors show it. */
export interface ShownKey {
  id: string
  kind: string
  name: string
  hint: string
  status: string
  createdAt: string
  expiresAt: string | null
}

export function describeKeys(keys: readonly ShownKey[]): string {
  const rows = keys.map(({ id, kind, name, hint, status, createdAt, expiresAt }) => [
    id,
    kind,
    name,
    `…${hint}`,
    status,
    createdAt,
    expiresAt ?? 'never',
  ])
  return table(['ID', 'KIND', 'NAME', 'KEY', 'STATUS', 'CREATED', 'ENDS'], rows)
}

export const describeNewEnvironment = ({ id, refId }: Pick<ShownEnvironment, 'id' | 'refId'>, signingSecret: string): string =>
  `Created environment "${refId}" (id ${id})\nSigning secret of environment "${refId}" (shown only now): ${signingSecret}`

export const describeNewKey = ({ id, kind, name, expiresAt }: ShownKey, key: string): string =>
  `Created ${kind} key "${name}" (id ${id}, ends ${expiresAt ?? 'never'}). Shown only now:\n${key}`

export const describeReplaced = ({ hint, expiresAt }: ShownKey): string => `The old key …${hint} ends ${expiresAt ?? 'never'}`

export const describeRevoked = ({ kind, name, hint }: ShownKey): string => `Revoked ${kind} key "${name}" …${hint}`
