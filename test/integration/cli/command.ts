import { runTollgate } from '../../../src/cli/run.js'

export interface Ran {
  code: number
  output: string
  errors: string
}

/** Runs the command as a shell would, with these variables and no others. */
export async function run(args: string[], variables: Record<string, string>, folder = '.'): Promise<Ran> {
  const [output, errors]: [string[], string[]] = [[], []]
  const code = await runTollgate({
    args,
    variables,
    folder,
    print: (text) => output.push(text),
    printError: (text) => errors.push(text),
  })
  return { code, output: output.join('\n'), errors: errors.join('\n') }
}
