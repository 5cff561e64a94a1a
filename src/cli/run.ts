/** The command `tollgate`: what can be done from outside of a platform, with a key and its address. */
import { systemClock } from '../kernel/clock.js'
import { Api, ApiError } from './api.js'
import { catalogCommands } from './catalog.js'
import { type Program, readCommand } from './command-line.js'
import type { CliContext } from './context.js'
import { environmentCommands } from './environments.js'
import { UsageError } from './input.js'
import { describeProblems } from './output.js'

/** Where `npm start` serves. */
const localUrl = 'http://127.0.0.1:4000'

interface CliOptions {
  /** What was typed after `tollgate`. */
  args: readonly string[]
  /** The variables of the process. */
  variables: Readonly<Record<string, string | undefined>>
  /** Where file names start from. */
  folder: string
  print: (text: string) => void
  printError: (text: string) => void
}

const program: Program<CliContext> = {
  call: 'tollgate',
  commands: [...catalogCommands, ...environmentCommands],
  about: `It talks to the web process at TOLLGATE_URL (default: ${localUrl}).
catalog takes the server key of its environment from TOLLGATE_API_KEY, environment and key take the operator key from OPERATOR_KEY.
Keys are never options: what is typed can be read in the list of processes and stays in the history of the shell.
Exit codes: 0 done, and no difference; 1 refused or failed; 2 catalog diff found a difference.`,
}

/** Runs one command and answers the exit code. */
export async function runTollgate({ args, variables, folder, print, printError }: CliOptions): Promise<0 | 1 | 2> {
  const isJson = args.includes('--json')
  try {
    const typed = readCommand(program, args)
    if ('help' in typed) {
      print(typed.help)
      return 0
    }
    const context = contextOf(variables, folder)
    const answer = await typed.command.run(context, typed.values, typed.argument)
    print(isJson ? JSON.stringify(answer.json, null, 2) : answer.text)
    return answer.hasDifferences ? 2 : 0
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ApiError)) throw error
    printError(isJson ? JSON.stringify({ error: asJson(error) }, null, 2) : asText(error))
    return 1
  }
}

function contextOf(variables: CliOptions['variables'], folder: string): CliContext {
  const url = addressOf(variables.TOLLGATE_URL || localUrl)
  return {
    catalog: () =>
      new Api({
        url,
        header: 'X-API-KEY',
        ...required(variables, 'TOLLGATE_API_KEY', 'a server key of the environment (key create makes one)'),
      }),
    operator: () =>
      new Api({
        url,
        header: 'X-OPERATOR-KEY',
        ...required(variables, 'OPERATOR_KEY', 'the operator key that the web process was started with'),
      }),
    folder,
    now: systemClock.now(),
  }
}

function required(variables: CliOptions['variables'], variable: string, what: string): { variable: string; key: string } {
  const key = variables[variable]?.trim()
  if (!key) throw new UsageError(`${variable} is not set: it must hold ${what}`)
  // Else it is `fetch` that refuses it, and puts it into its message.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError(`${variable} has characters that no key has: it must hold ${what}`)
  return { variable, key }
}

function addressOf(given: string): string {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new UsageError(`TOLLGATE_URL must be an address such as ${localUrl}, not "${given}"`)
  // Messages name the address, and `fetch` takes none of this kind.
  const { username, password } = new URL(given)
  if (username || password) throw new UsageError('TOLLGATE_URL must be an address without a user name and password')
  return given.replace(/\/+$/, '')
}

function asText(error: UsageError | ApiError): string {
  if (!(error instanceof ApiError) || error.extensions.code !== 'BadUserInput') return error.message
  const { problems } = error.extensions
  return problems ? describeProblems(problems) : error.message
}

function asJson(error: UsageError | ApiError) {
  return error instanceof ApiError ? { message: error.message, ...error.extensions } : { message: error.message, code: 'Usage' }
}
