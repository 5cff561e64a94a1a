import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { postgresFolders } from '../../src/local/postgres/binaries.js'
import { startPostgres } from '../../src/local/postgres/server.js'
import { type Child, Children } from '../../src/local/processes/children.js'
import { stopGroup } from '../../src/local/processes/os-process.js'
import { Ports } from '../../src/local/processes/ports.js'
import { administer, databaseUrl } from './database.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const copy = promisify(execFile)

/** A PostgreSQL of a test alone, which can fail over to a standby that has not heard of the last commits. Its address stays the same. */
export class OwnPostgres {
  readonly #children = new Children()
  readonly #ports = new Ports()
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'))
  #server: Child | undefined
  #port: number | undefined
  url = ''

  async start(name = 'primary'): Promise<void> {
    // The server may run as another user, who has to walk through.
    chmodSync(this.#folder, 0o711)
    const { url, port, child } = await startPostgres({
      root,
      dataFolder: await this.#dataFolder(name),
      children: this.#children,
      ports: this.#ports,
      lastPort: undefined,
      ...(this.#port !== undefined && { port: this.#port }),
      isDurable: false,
      notice: (line) => console.error(line),
      signal: AbortSignal.timeout(60_000),
      folders: postgresFolders(root),
    })
    this.url = url
    this.#port = port
    this.#server = child
  }

  /** `lost` commits what the standby that is promoted then has never received. */
  async failOver(lost: () => Promise<unknown>): Promise<void> {
    await this.#end()
    const [primary, standby] = [await this.#dataFolder('primary'), await this.#dataFolder('standby')]
    await copy('cp', ['-a', `${realpathSync(join(primary, 'postgres'))}/.`, join(standby, 'postgres')])
    writeFileSync(join(standby, 'postgres', 'data', 'standby.signal'), '')
    await this.start('primary')
    await lost()
    await this.#end()
    await this.start('standby')
    await administer(databaseUrl(this.url, 'postgres'), (client) => client.query('SELECT pg_promote()'))
  }

  async stop(): Promise<void> {
    await this.#children.stopAll()
    this.#ports.release()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #dataFolder(name: string): Promise<string> {
    const folder = join(this.#folder, name)
    await copy('mkdir', ['-p', '-m', '711', folder])
    return folder
  }

  async #end(): Promise<void> {
    if (this.#server?.pid !== undefined) await stopGroup(this.#server.pid, 'SIGINT', 30_000)
  }
}
