import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeLock } from './folder-lock.js'

const isFree = (port: number, host: string): Promise<number | null> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null))
    })
  })

/**
 * Chooses ports that nobody listens on and no other runner on this machine has chosen. A choice is remembered in a lock file until
 * `release`, because between choosing a port and listening on it another runner may look.
 */
export class Ports {
  private readonly releases: (() => void)[] = []
  private readonly folder = join(tmpdir(), `tollgate-ports-${process.getuid?.() ?? 0}`)

  constructor(private readonly host: string = '127.0.0.1') {}

  /** The first free one of `preferred`, else any free port. */
  async take(...preferred: readonly (number | undefined)[]): Promise<number> {
    for (const candidate of [...preferred.filter((port) => port !== undefined && port > 0), ...Array<number>(100).fill(0)]) {
      const port = await this.takeOnly(candidate ?? 0)
      if (port !== null) return port
    }
    throw new Error(`No free port on ${this.host}`)
  }

  /** This port and no other (0: any); null: it is taken. */
  async takeOnly(wanted: number): Promise<number | null> {
    const port = await isFree(wanted, this.host)
    if (port === null) return null
    const lock = takeLock(join(this.folder, String(port)))
    if ('heldBy' in lock) return null
    this.releases.push(lock.release)
    return port
  }

  release(): void {
    for (const release of this.releases.splice(0)) release()
  }
}
