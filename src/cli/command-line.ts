/** A program of several commands, such as `key create <…> --name …`: reading what was typed, and explaining what can be. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError, type Values } from './input.js'

export interface Command<Context> {
  /** Two words, as in `key create`. */
  name: string
  /** Another name of the same. */
  alias?: string
  /** The one argument that is not an option, or null. */
  argument: string | null
  /** Instead of the argument when there is none; absent: it must be there. */
  defaultArgument?: string
  summary: string
  options: Record<string, NonNullable<ParseArgsConfig['options']>[string] & { help: string }>
  run(context: Context, values: Values, argument: string): Promise<Answer>
}

/** What a command answers: for people, and with `--json` for programs. */
export interface Answer {
  /** Empty: everything was printed on the way. */
  text: string
  json: unknown
  /** Something was found that a script may want to know of. */
  hasDifferences?: boolean
}

export interface Program<Context> {
  /** How it is called: `tollgate`, `npm run -s admin --`. */
  call: string
  commands: readonly Command<Context>[]
  /** After the list of commands. */
  about: string
}

type Typed<Context> = { help: string } | { command: Command<Context>; values: Values; argument: string }

/** Fails with a UsageError that says what is wrong. */
export function readCommand<Context>(program: Program<Context>, args: readonly string[]): Typed<Context> {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const called = args.slice(0, 2).join(' ')
  const command = program.commands.find(({ name, alias }) => called === name || called === alias)
  if (!command) {
    if (words.length === 0 || words[0] === 'help' || args.includes('--help') || args.includes('-h')) return { help: overview(program) }
    throw new UsageError(`there is no command "${words.slice(0, 2).join(' ')}"; --help lists them`)
  }
  const help = helpOf(program, command)
  const { values, positionals } = parse(command, args.slice(2), help)
  if (values.help === true) return { help }
  const [argument = command.defaultArgument ?? '', ...extra] = positionals
  if (command.argument !== null && argument === '') throw new UsageError(`<${command.argument}> is missing\n\n${help}`)
  if (extra.length > 0 || (command.argument === null && argument !== ''))
    throw new UsageError(`"${positionals.at(-1)}" is one argument too many\n\n${help}`)
  return { command, values, argument }
}

const commonOptions: Command<unknown>['options'] = {
  json: { type: 'boolean', help: 'print JSON instead of text' },
  help: { type: 'boolean', short: 'h', help: 'print this' },
}

function parse({ options }: Pick<Command<never>, 'options'>, args: readonly string[], help: string) {
  try {
    const known = Object.entries({ ...options, ...commonOptions }).map(([name, { help, ...option }]) => [name, option] as const)
    const parsed = parseArgs({ args: [...args], options: Object.fromEntries(known), allowPositionals: true })
    return { values: parsed.values as Values, positionals: parsed.positionals }
  } catch (error) {
    // What is wrong with the command line, without the advice that follows.
    const [message] = (error as Error).message.split('. To specify')
    throw new UsageError(`${message}\n\n${help}`)
  }
}

function overview({ call, commands, about }: Program<never>): string {
  const usages = commands.map(usageOf)
  const width = Math.max(...usages.map((usage) => usage.length))
  const lines = commands.map(({ summary }, index) => `  ${usages[index]!.padEnd(width)}  ${summary}`)
  return `Usage: ${call} <command> [options]

${lines.join('\n')}

Every command takes --json and --help. ${about}`
}

function usageOf({ name, argument, defaultArgument }: Command<never>): string {
  if (argument === null) return name
  return defaultArgument === undefined ? `${name} <${argument}>` : `${name} [${argument}]`
}

function helpOf({ call }: Program<never>, command: Command<never>): string {
  const options = Object.entries({ ...command.options, ...commonOptions }).map(([name, option]) => {
    const flag = option.type === 'string' ? `--${name} <${name === 'environment' ? 'refId' : 'value'}>` : `--${name}`
    return `  ${flag.padEnd(24)}  ${option.help}`
  })
  return `${command.summary}

Usage: ${call} ${usageOf(command)} [options]

${options.join('\n')}`
}
