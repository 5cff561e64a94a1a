import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that any user may walk to, as the servers' own user must. */
export function scratchFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-local-'))
  chmodSync(folder, 0o755)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
