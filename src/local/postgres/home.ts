import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '../../kernel/problem.js'
import { runCommand } from '../processes/run-command.js'
import type { ServerUser } from './binaries.js'

export interface PostgresHome {
  /** Holds the cluster (`data`) and, when they had to be copied, the programs (`programs`). No symbolic link. */
  folder: string
  /** The user the server runs as; undefined means ours. */
  user: ServerUser | undefined
}

/**
 * Makes or finds the folder of the embedded PostgreSQL. PostgreSQL refuses to run as root: then it runs as the folder's owner, or as
 * `postgres` or `nobody`. That user must be able to walk to the folder; where it cannot (a clone under /root), `folder` becomes a symbolic link
 * to a folder elsewhere, so that the data is found again and goes when the link is deleted. `notice` is told so in one line.
 */
export async function preparePostgresHome(folder: string, notice: (line: string) => void): Promise<PostgresHome> {
  mkdirSync(dirname(folder), { recursive: true })
  // A link whose folder somebody has deleted: they wanted an empty database.
  if (!existsSync(folder)) rmSync(folder, { force: true })
  if (process.getuid?.() !== 0) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return { folder: realpathSync(folder), user: undefined }
  }
  const isNew = !existsSync(folder)
  if (isNew) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const owner = statSync(folder)
  const user = isNew || owner.uid === 0 ? unprivilegedUser() : { uid: owner.uid, gid: owner.gid }
  chownSync(folder, user.uid, user.gid)
  const real = realpathSync(folder)
  if (await isReachable(real, user)) return { folder: real, user }
  if (existsSync(join(real, 'data')))
    throw new Problem(
      'FAILED_PRECONDITION',
      'POSTGRES_FOLDER_UNREACHABLE',
      `User ${user.uid}, who owns the database in ${real}, cannot walk to it any more. Make the folders above it executable for everyone (chmod o+x), or run as that user.`,
    )
  return { folder: moveElsewhere(folder, user, notice), user }
}

const isReachable = (folder: string, user: ServerUser) =>
  runCommand('/bin/sh', ['-c', 'cd "$0" && test -w .', folder], { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  )

function moveElsewhere(folder: string, user: ServerUser, notice: (line: string) => void): string {
  for (const base of ['/var/lib/tollgate', '/var/tmp/tollgate']) {
    try {
      mkdirSync(base, { recursive: true, mode: 0o755 })
      chmodSync(base, 0o755)
      const elsewhere = mkdtempSync(join(base, 'postgres-'))
      chownSync(elsewhere, user.uid, user.gid)
      rmdirSync(folder)
      symlinkSync(elsewhere, folder)
      notice(`PostgreSQL does not run as root, and user ${user.uid} cannot walk to ${folder}: its data is in ${elsewhere}`)
      return elsewhere
    } catch (error) {
      if (!['EROFS', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  throw new Problem(
    'FAILED_PRECONDITION',
    'POSTGRES_FOLDER_UNREACHABLE',
    `PostgreSQL does not run as root, and user ${user.uid} cannot walk to ${folder}. Move the project to a folder that others may enter, run as another user, or set DATABASE_URL.`,
  )
}

/** `postgres` where the system has it, else `nobody`. */
function unprivilegedUser(): ServerUser {
  const accounts = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : ''
  for (const name of ['postgres', 'nobody']) {
    const match = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts)
    if (match) return { uid: Number(match[1]), gid: Number(match[2]) }
  }
  return { uid: 65534, gid: 65534 }
}
