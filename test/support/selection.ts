import { join, relative, sep } from 'node:path'

export interface Selection {
  /** Paths under test/, as the user may write them: `unit`, `test/unit/kernel`, `integration/local/redis.test.ts`. Empty means all. */
  filters: string[]
  /** Passed on to mocha as they are. */
  mochaArguments: string[]
}

/** Splits the arguments of `npm test -- …`: paths come first, everything from the first option on is mocha's. */
export function parseArguments(args: readonly string[]): Selection {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'))
  const end = firstOption === -1 ? args.length : firstOption
  return { filters: args.slice(0, end).map(normalise), mochaArguments: args.slice(end) }
}

const normalise = (path: string) =>
  path
    .replace(/^\.\//, '')
    .replace(/^(dist\/)?test(\/|$)/, '')
    .replace(/\.js$/, '.ts')
    .replace(/\/+$/, '')

/** The test sources (relative to test/) that the filters name; a filter is a file, a folder, or the beginning of a file's name. */
export function selectFiles(sources: readonly string[], filters: readonly string[]): string[] {
  const tests = sources.map((source) => source.split(sep).join('/')).filter((source) => source.endsWith('.test.ts'))
  return tests.filter((test) => filters.length === 0 || filters.some((filter) => filter === '' || test.startsWith(filter))).sort()
}

/** Unit tests do no IO, so a run of nothing else starts no services. */
export const needServices = (files: readonly string[]): boolean => files.some((file) => !file.startsWith('unit/'))

/**
 * What runs beside each other, with servers of its own: one test after the other within a lane. They take about as long. Tests of whole processes, and those of
 * outages, mostly wait for what takes its time.
 */
const lanes = [/^(?:e2e|unit|integration\/(?:sdk|sidecar|updates))\//, /^(?:contract|fuzz|integration\/(?:web|local|billing))\//]

/** The files by lane; what no pattern names is a lane too. */
export function lanesOf(files: readonly string[]): string[][] {
  const laneOf = (file: string) => lanes.findIndex((lane) => lane.test(file))
  return [-1, ...lanes.keys()].map((lane) => files.filter((file) => laneOf(file) === lane)).filter((lane) => lane.length > 0)
}

/** Where the compiler puts a test. */
export const compiledFile = (root: string, source: string): string => join(root, 'dist', 'test', source.replace(/\.ts$/, '.js'))

/** The test that the compiler has put there, relative to test/. */
export const sourceFile = (root: string, file: string): string =>
  relative(join(root, 'dist', 'test'), file)
    .split(sep)
    .join('/')
    .replace(/\.js$/, '.ts')
