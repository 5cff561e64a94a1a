/** The catalog of the environment of an API key, in a file: pulled, compared, pushed. */
import { resolve } from 'node:path'
import { type Api, ApiError } from './api.js'
import { type CatalogFile, formatOf, readCatalogFile, withVersion, writeDocument, writeText } from './catalog-file.js'
import type { Answer, Command } from './command-line.js'
import type { CliContext } from './context.js'
import { UsageError } from './input.js'
import { type CatalogChange, describeChange, describeProblems } from './output.js'

const file = { argument: 'file', defaultArgument: 'catalog.yaml' } as const
const archiveMissing = { type: 'boolean', help: 'archive what the file leaves out; else it stays' } as const

export const catalogCommands: readonly Command<CliContext>[] = [
  {
    name: 'catalog pull',
    ...file,
    summary: 'Writes the catalog, with its version, to a YAML or JSON file (- prints it; default: catalog.yaml)',
    options: { overwrite: { type: 'boolean', help: 'also when the file is there: what was written in it is lost' } },
    async run({ catalog, folder }, values, name) {
      const document = await read(catalog())
      const text = writeDocument(document, formatOf(name))
      if (name === '-') return { text: text.trimEnd(), json: document }
      if (!writeText(resolve(folder, name), text, { isNew: values.overwrite !== true, name }))
        throw new UsageError(`${name} is there already: catalog diff compares it with what is in force, --overwrite replaces it`)
      return { text: `Wrote ${name}: version ${document.version}`, json: { file: name, version: document.version } }
    },
  },
  {
    name: 'catalog diff',
    ...file,
    summary: 'Prints what pushing the file would change; exit code 2 when that is anything',
    options: { 'archive-missing': archiveMissing },
    async run({ catalog, folder }, values, name) {
      const written = readCatalogFile(pathOf(folder, name), name)
      const { changes, version, isMoved } = await compare(catalog(), written, values['archive-missing'] === true)
      const isRefused = isMoved && changes.length > 0
      const moved = isRefused
        ? [`The catalog has changed since ${name} was pulled: pushing it is refused. It is at version ${version} now.`]
        : []
      const head = changes.length === 0 ? 'No difference' : 'Pushing would change:'
      return {
        text: [...moved, head, ...changes.map(describeChange)].join('\n'),
        json: { changes, pulledVersion: written.version, version },
        hasDifferences: changes.length > 0,
      }
    },
  },
  {
    name: 'catalog push',
    ...file,
    summary: 'Brings the catalog to what the file says, all or nothing; refused when it has changed since the file was pulled',
    options: { 'archive-missing': archiveMissing },
    async run({ catalog, folder }, values, name) {
      const written = readCatalogFile(pathOf(folder, name), name)
      return push(catalog(), written, { archiveMissing: values['archive-missing'] === true, name, path: pathOf(folder, name) })
    },
  },
]

const pathOf = (folder: string, name: string) => (name === '-' ? name : resolve(folder, name))

interface CatalogDocument {
  version: string
  [section: string]: unknown
}

const read = async (api: Api) => (await api.ask<{ catalog: CatalogDocument }>('{ catalog }')).catalog

interface Application {
  text: string
  dryRun: boolean
  archiveMissing: boolean
  expectedVersion: string | null
}

async function apply(api: Api, { text: input, ...options }: Application): Promise<readonly CatalogChange[]> {
  const { applyCatalog } = await api.ask<{ applyCatalog: readonly CatalogChange[] }>(
    `mutation ($input: JSON!, $dryRun: Boolean, $archiveMissing: Boolean, $expectedVersion: String) {
      applyCatalog(input: $input, dryRun: $dryRun, archiveMissing: $archiveMissing, expectedVersion: $expectedVersion) {
        kind refId action fields { path from to }
      }
    }`,
    { input, ...options },
  )
  return applyCatalog
}

interface Comparison {
  changes: readonly CatalogChange[]
  /** Of the catalog in force. */
  version: string
  /** It is not the catalog that the file was made from. */
  isMoved: boolean
}

/** A file without a version is compared with whatever is in force. */
async function compare(api: Api, { text, version }: CatalogFile, archiveMissing: boolean): Promise<Comparison> {
  const expectedVersion = version ?? (await read(api)).version
  try {
    return { changes: await apply(api, { text, dryRun: true, archiveMissing, expectedVersion }), version: expectedVersion, isMoved: false }
  } catch (error) {
    const moved = movedOf(error)
    if (!moved) throw error
    return { changes: moved.changes, version: moved.version, isMoved: true }
  }
}

/** Null: it was refused for another reason. Fails when the file can no longer be applied at all. */
function movedOf(error: unknown): { version: string; changes: readonly CatalogChange[] } | null {
  if (!(error instanceof ApiError) || error.extensions.code !== 'CatalogVersionMismatch') return null
  const { version = '', changes, problems = [] } = error.extensions
  if (changes) return { version, changes }
  const why = 'The catalog has changed since the file was pulled, and the file no longer fits it: pull it again.'
  throw new ApiError(`${why}\n${describeProblems(problems)}`, error.extensions)
}

interface Target {
  archiveMissing: boolean
  name: string
  path: string
}

async function push(api: Api, written: CatalogFile, target: Target): Promise<Answer> {
  const { name, path } = target
  const { changes, version } = written.version === null ? await pushFirst(api, written, target) : await pushOver(api, written, target)
  const lines = [changes.length === 0 ? 'Nothing to change' : 'Changed:', ...changes.map(describeChange)]
  if (version === null) lines.push(`Somebody else has changed the catalog right after: pull it again before you go on with ${name}`)
  else lines.push(note(version, written, { name, path }))
  return { text: lines.join('\n'), json: { changes, version } }
}

interface Pushed {
  changes: readonly CatalogChange[]
  /** Of the catalog that the file is now the text of; null: somebody else has changed it since. */
  version: string | null
}

/** What somebody else has done meanwhile is no obstacle when it is the same. */
async function pushOver(api: Api, { text, version: expectedVersion }: CatalogFile, { archiveMissing, name }: Target): Promise<Pushed> {
  try {
    const changes = await apply(api, { text, dryRun: false, archiveMissing, expectedVersion })
    return { changes, version: changes.length === 0 ? expectedVersion : await versionAfter(api, { text, archiveMissing }) }
  } catch (error) {
    const moved = movedOf(error)
    if (!moved) throw error
    if (moved.changes.length === 0) return moved
    throw refusal(`The catalog has changed since ${name} was pulled`, { ...moved, expectedVersion }, name)
  }
}

/** Without a version a file is a first catalog: there must be none yet, or it would replace what its writer has not seen. */
async function pushFirst(api: Api, { text }: CatalogFile, target: Target): Promise<Pushed> {
  const { version, ...sections } = await read(api)
  if (Object.keys(sections).length === 0) return pushOver(api, { text, version }, target)
  const { changes } = await compare(api, { text, version }, target.archiveMissing)
  if (changes.length === 0) return { changes, version }
  const why = `${target.name} has no version, so it was not made from the catalog in force`
  throw refusal(why, { version, changes, expectedVersion: null }, target.name)
}

/** So that the next push is on top of this one. */
function note(version: string, written: CatalogFile, { name, path }: Pick<Target, 'name' | 'path'>): string {
  const isAt = `The catalog is at version ${version}`
  if (path === '-' || version === written.version) return isAt
  try {
    writeText(path, withVersion(written.text, version), { isNew: false, name })
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${isAt}, but ${error.message}: set the version in it yourself`)
    throw error
  }
  return `${isAt}, as ${name} says now`
}

function refusal(
  why: string,
  { version, changes, expectedVersion }: { version: string; changes: readonly CatalogChange[]; expectedVersion: string | null },
  name: string,
): ApiError {
  const message = [
    `${why}: nothing was pushed. Pushing it now would change:`,
    ...changes.map(describeChange),
    'What you did not write yourself undoes what others have done. Pull the catalog into another file and make your change in that, or,',
    `when all of it is meant, set the version in ${name} to ${version} and push again.`,
  ]
  return new ApiError(message.join('\n'), { code: 'CatalogVersionMismatch', expectedVersion, version, changes })
}

/** Of the catalog that has just been pushed, or null: it is another one already. */
async function versionAfter(api: Api, { text, archiveMissing }: { text: string; archiveMissing: boolean }): Promise<string | null> {
  const { version } = await read(api)
  const { changes, isMoved } = await compare(api, { text, version }, archiveMissing)
  return isMoved || changes.length > 0 ? null : version
}
