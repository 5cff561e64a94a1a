/** The command line of an operator: environments, keys and the catalog, straight in the database. */

import { parseArgs } from 'node:util'
import { CatalogService } from '../../catalog/service.js'
import { EnvironmentService } from '../../environment/service.js'
import { systemClock } from '../../kernel/clock.js'
import { Problem } from '../../kernel/problem.js'
import { ensurePartitionsAround } from '../../metering/retention/partitions-around.js'

import { DeadLetters } from '../../platform/dead-letters.js'
import { StartError } from '../../platform/health.js'
import { silentLogger } from '../../platform/logger.js'
import { connectPostgres } from '../../platform/postgres.js'
import { Life } from '../../platform/process.js'
import { openRedis } from '../../platform/redis.js'
import { startMigrations } from '../../subscription/records/migrations.js'
import { type AdminContext, type Answer, type Command, commands } from './commands.js'
import { UsageError } from './input.js'

interface AdminOptions {
  /** What was typed after `npm run admin --`. */
  args: string[]
  /** Null: there is no database to work on. */
  databaseUrl: string | null
  /** Null or absent: there is no Redis to work on. */
  redisUrl?: string | null
  /** Of all queue keys. */
  queuePrefix?: string
  /** Where file names start from. */
  folder: string
  print: (text: string) => void
  printError: (text: string) => void
}

/** Runs one command. Answers the exit code: 0 done, 1 refused or failed, 2 the command line is wrong. */
export async function runAdmin({
  args,
  databaseUrl,
  redisUrl,
  queuePrefix = '{tollgate}',
  folder,
  print,
  printError,
}: AdminOptions): Promise<0 | 1 | 2> {
  const isJson = args.includes('--json')
  try {
    const typed = readCommand(args)
    if ('help' in typed) {
      print(typed.help)
      return 0
    }
    if (databaseUrl === null) throw new UsageError('no database: set DATABASE_URL, or start the platform (npm start) and try again')
    const answer = await withServices({ databaseUrl, redisUrl: redisUrl ?? null, queuePrefix, folder }, (context) =>
      typed.command.run(context, typed.values, typed.argument),
    )
    print(isJson ? JSON.stringify(answer.json, null, 2) : answer.text)
    return 0
  } catch (error) {
    printError(isJson ? JSON.stringify(errorAsJson(error), null, 2) : errorAsText(error))
    return error instanceof UsageError ? 2 : 1
  }
}

type Typed = { help: string } | { command: Command; values: Readonly<Record<string, string | boolean | undefined>>; argument: string }

function readCommand(args: string[]): Typed {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const command = commands.find(({ name }) => args.slice(0, 2).join(' ') === name)
  if (!command) {
    if (words.length === 0 || words[0] === 'help' || args.includes('--help') || args.includes('-h')) return { help: overview() }
    throw new UsageError(`there is no command "${words.slice(0, 2).join(' ')}"; --help lists them`)
  }
  const { values, positionals } = parse(command, args.slice(2))
  if (values.help === true) return { help: helpOf(command) }
  const [argument = '', ...extra] = positionals
  if (command.argument !== null && argument === '') throw new UsageError(`<${command.argument}> is missing\n\n${helpOf(command)}`)
  if (extra.length > 0 || (command.argument === null && argument !== ''))
    throw new UsageError(`"${positionals.at(-1)}" is one argument too many\n\n${helpOf(command)}`)
  return { command, values, argument }
}

const commonOptions: Command['options'] = {
  json: { type: 'boolean', help: 'print JSON instead of text' },
  help: { type: 'boolean', short: 'h', help: 'print this' },
}

function parse(command: Command, args: string[]) {
  try {
    const options = Object.entries({ ...command.options, ...commonOptions }).map(([name, { help, ...option }]) => [name, option] as const)
    const parsed = parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true })
    return { values: parsed.values as Readonly<Record<string, string | boolean | undefined>>, positionals: parsed.positionals }
  } catch (error) {
    // What is wrong with the command line, without the advice that follows.
    const [message] = (error as Error).message.split('. To specify')
    throw new UsageError(`${message}\n\n${helpOf(command)}`)
  }
}

function overview(): string {
  const usages = commands.map(usageOf)
  const width = Math.max(...usages.map((usage) => usage.length))
  const lines = commands.map(({ summary }, index) => `  ${usages[index]!.padEnd(width)}  ${summary}`)
  return `Usage: npm run -s admin -- <command> [options]

${lines.join('\n')}

Every command takes --json and --help. It works on the database of DATABASE_URL, else on that of the platform that npm start runs in this folder.
Exit codes: 0 done, 1 refused or failed, 2 wrong command line.`
}

const usageOf = ({ name, argument }: Command) => (argument === null ? name : `${name} <${argument}>`)

function helpOf(command: Command): string {
  const options = Object.entries({ ...command.options, ...commonOptions }).map(([name, option]) => {
    const flag = option.type === 'string' ? `--${name} <${name === 'environment' ? 'refId' : 'value'}>` : `--${name}`
    return `  ${flag.padEnd(24)}  ${option.help}`
  })
  return `${command.summary}

Usage: npm run -s admin -- ${usageOf(command)} [options]

${options.join('\n')}`
}

/** Opens the database for one command. The deliverer of changes finds by itself what a command has changed, within its sweep. */
async function withServices(
  { databaseUrl, redisUrl, queuePrefix, folder }: { databaseUrl: string; redisUrl: string | null; queuePrefix: string; folder: string },
  work: (context: AdminContext) => Promise<Answer>,
): Promise<Answer> {
  const life = new Life('admin', silentLogger())
  const clock = systemClock
  try {
    const { prisma } = await connectPostgres(life, databaseUrl, { poolSize: 2 })
    const environments = new EnvironmentService({ prisma, clock, prepareForEvents: ensurePartitionsAround })
    const catalog = new CatalogService({ prisma, clock, startMigrations, nudge: () => undefined })
    const deadLetters = () => {
      if (redisUrl === null) throw new UsageError('no Redis: set REDIS_URL, or start the platform (npm start) and try again')
      return new DeadLetters(openRedis(life, redisUrl, 'request'), queuePrefix)
    }
    return await work({ environments, catalog, clock, folder, deadLetters })
  } finally {
    await life.stop()
  }
}

function errorAsText(error: unknown): string {
  if (error instanceof UsageError || error instanceof StartError) return error.message
  if (!(error instanceof Problem)) return error instanceof Error && error.stack ? error.stack : String(error)
  const problems = error.details.problems as { path: string; message: string }[] | undefined
  if (!problems) return error.message
  const lines = problems.map(({ path, message }) => `  ${path === '' ? message : `${path} ${message}`}`)
  return [`The document was refused (${lines.length} ${lines.length === 1 ? 'problem' : 'problems'}):`, ...lines].join('\n')
}

function errorAsJson(error: unknown) {
  if (error instanceof UsageError) return { error: { reason: 'USAGE', message: error.message } }
  if (error instanceof StartError) return { error: { reason: 'UNAVAILABLE', message: error.message } }
  const { reason, message, details } = Problem.from(error)
  return { error: { reason, message, details } }
}
