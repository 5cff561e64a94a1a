import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Problem } from '../../kernel/problem.js'
import type { Children } from '../processes/children.js'
import { CommandFailure, findOnPath } from '../processes/run-command.js'

/** A program that this machine lacks. */
export interface WantedProgram {
  /** As a sentence names it, with the oldest version that will do. */
  title: string
  /** Its file in `/usr/bin`. */
  name: string
  /** The Debian package that has it. */
  packageName: string
  /** What to do where it cannot be brought, as the end of a sentence. */
  howToInstall: string
}

export interface Program {
  file: string
  /** Added to the environment, so that an unpacked program finds the libraries unpacked beside it. */
  env: NodeJS.ProcessEnv
}

interface BringOptions {
  /** Packages are unpacked into folders of this one. */
  cacheFolder: string
  children: Children
  /** Told in one line what takes time. */
  notice: (line: string) => void
  signal: AbortSignal
}

/**
 * The distribution's own program, unpacked into `cacheFolder` with the packages it needs that this machine lacks: nothing is installed on the system,
 * no root is needed, and apt checks signatures as always. Already unpacked, no network is used. Throws FAILED_PRECONDITION with what to do where
 * there is no apt, it has no such program, or the download fails.
 */
export async function bringProgram(wanted: WantedProgram, options: BringOptions): Promise<Program> {
  const { title, howToInstall } = wanted
  let program: Program | null
  try {
    program = await unpackedProgram(wanted, options)
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    const message = `No ${title} is on this machine, and the distribution’s package could not be fetched. Check the network, ${howToInstall}`
    throw new Problem('FAILED_PRECONDITION', 'PROGRAM_MISSING', `${message}\n${aptErrors(error.output)}`)
  }
  if (program) return program
  throw new Problem('FAILED_PRECONDITION', 'PROGRAM_MISSING', `No ${title} is on this machine: ${howToInstall}`)
}

/** apt's own errors, without its progress. */
const aptErrors = (output: string) => output.match(/^E: .*$/gm)?.join('\n') ?? output.trim()

/** Null where there is no apt, or no such program in what it brings. */
async function unpackedProgram(wanted: WantedProgram, { cacheFolder, children, notice, signal }: BringOptions): Promise<Program | null> {
  const folder = join(cacheFolder, wanted.packageName)
  const unpacked = programIn(folder, wanted)
  if (unpacked) return unpacked
  if (!findOnPath('apt-get') || !findOnPath('dpkg-deb')) return null
  notice(`No ${wanted.title} on this machine: fetching the distribution’s package ${wanted.packageName} …`)
  mkdirSync(cacheFolder, { recursive: true })
  // A folder of its own for each: two runs may fetch the same at once.
  const work = mkdtempSync(join(cacheFolder, 'apt-'))
  try {
    const archives = join(work, 'archives')
    const unfinished = join(work, 'unpacked')
    mkdirSync(join(archives, 'partial'), { recursive: true })
    mkdirSync(unfinished)
    await download(wanted.packageName, work, children, signal)
    for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
      await children.run('dpkg-deb', ['--extract', join(archives, file), unfinished], { signal })
    completeFromMachine(unfinished, fileIn(unfinished, wanted))
    // The folder is there when another run was faster, or when the machine has lost what its program led to.
    if (programIn(unfinished, wanted) && !programIn(folder, wanted)) {
      rmSync(folder, { recursive: true, force: true })
      renameSync(unfinished, folder)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return programIn(folder, wanted)
}

/** Fetches a package and what it needs that this machine lacks: with the system's package lists, else with lists of our own. */
async function download(packageName: string, work: string, children: Children, signal: AbortSignal): Promise<void> {
  const options = ['-q', '-y', ...settings({ 'Dir::Cache': work, 'Dir::Cache::archives': join(work, 'archives') })]
  const install = ['--no-install-recommends', '--download-only', 'install', packageName]
  try {
    await children.run('apt-get', [...options, ...install], { signal })
  } catch (error) {
    if (signal.aborted) throw error
    // No lists, or lists so old that they name files which are gone.
    const lists = join(work, 'lists')
    mkdirSync(join(lists, 'partial'), { recursive: true })
    const own = [...options, ...settings({ 'Dir::State::lists': lists })]
    await children.run('apt-get', [...own, '-o', 'APT::Update::Error-Mode=any', 'update'], { signal })
    await children.run('apt-get', [...own, ...install], { signal })
  }
}

/** Nothing of the system's is written, so no lock of the system's is needed, and no user to hand downloads to. */
const settings = (folders: Record<string, string>) =>
  Object.entries({ ...folders, 'Debug::NoLocking': '1', 'APT::Sandbox::User': '' }).flatMap(([name, value]) => ['-o', `${name}=${value}`])

/**
 * Packages that the machine has are not fetched. Where the program is a link into one of them (redis-server is one into redis-tools), the link is led
 * on to the machine's file.
 */
function completeFromMachine(folder: string, program: string): void {
  let path = program
  while (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) path = resolve(dirname(path), readlinkSync(path))
  const inside = relative(folder, path)
  if (existsSync(path) || path === program || inside.startsWith('..')) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join('/', inside), path)
}

const fileIn = (folder: string, { name }: WantedProgram) => join(folder, 'usr/bin', name)

function programIn(folder: string, wanted: WantedProgram): Program | null {
  const file = fileIn(folder, wanted)
  if (!existsSync(file)) return null
  const libraries = ['usr/lib', 'lib'].flatMap((path) => {
    const inside = join(folder, path)
    return existsSync(inside) ? [inside, ...readdirSync(inside).map((triplet) => join(inside, triplet))] : []
  })
  return { file, env: { LD_LIBRARY_PATH: [...libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':') } }
}
