import { Children } from '../../../src/local/processes/children.js'
import { findOnPath } from '../../../src/local/processes/run-command.js'
import { bringProgram, type Program, type WantedProgram } from '../../../src/local/programs/debian-package.js'
import type { Life } from '../../../src/platform/process.js'

const wanted = {
  h2load: {
    title: 'h2load',
    name: 'h2load',
    packageName: 'nghttp2-client',
    howToInstall:
      'install it, because it makes the calls of this benchmark (Debian, Ubuntu: apt-get install nghttp2-client; macOS: brew install nghttp2).',
  },
} satisfies Record<string, WantedProgram>

export type ProgramName = keyof typeof wanted

/** The run that needs them. */
interface User {
  /** Where fetched ones are kept. */
  cacheFolder: string
  life: Life
  note: (line: string) => void
}

/**
 * The programs of these names: those of the machine, else those of its distribution. Tells which they are. Throws FAILED_PRECONDITION with what to
 * install when one cannot be had.
 */
export async function findPrograms(names: readonly ProgramName[], user: User): Promise<(name: ProgramName) => Program> {
  const found = new Map<ProgramName, Program>()
  for (const name of names) {
    const program = await findProgram(wanted[name], user)
    user.note(`needs ${name}: ${program.file}`)
    found.set(name, program)
  }
  return (name) => {
    const program = found.get(name)
    if (!program) throw new Error(`The benchmark does not say that it needs ${name}`)
    return program
  }
}

async function findProgram(program: WantedProgram, { cacheFolder, life, note }: User): Promise<Program> {
  const file = findOnPath(program.name)
  if (file) return { file, env: {} }
  const children = new Children()
  try {
    return await bringProgram(program, { cacheFolder, children, notice: note, signal: life.signal })
  } finally {
    await children.stopAll()
  }
}
