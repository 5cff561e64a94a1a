import { type ExecFileOptions, execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The full path of a program on PATH, or null. */
export function findOnPath(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      if (folder !== '') return file
    } catch {
      // Not here.
    }
  }
  return null
}

/** What a program said that failed, or why it could not be started. */
export class CommandFailure extends Error {
  constructor(
    command: string,
    /** Its output, standard error last. */
    readonly output: string,
    readonly code: string | number | null,
  ) {
    super(`${command}: ${output.trim() || code}`)
  }
}

/** Runs a program to its end and answers its standard output. Throws a CommandFailure; `options.signal` ends it early. */
export function runCommand(command: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { maxBuffer: 16 * 1024 * 1024, ...options, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (!error) resolve(stdout)
      else if (options.signal?.aborted) reject(options.signal.reason)
      else reject(new CommandFailure(command, `${stdout}${stderr}` || error.message, error.code ?? error.signal ?? null))
    })
  })
}
