import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { until } from '../../contract/grpc/harness.js'

const main = fileURLToPath(new URL('../../../src/sidecar/main.js', import.meta.url))

/** The real process, as the Procfile starts it, with nothing of our environment. */
class SidecarProcess {
  output = ''
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown[]>

  constructor(env: Record<string, string>, args: string[] = []) {
    this.#child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env.PATH ?? '', BIND_ADDRESS: '127.0.0.1', PORT: '0', SIDECAR_HTTP_PORT: '0', ...env },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += chunk
      })
    }
    this.#exit = once(this.#child, 'close')
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async exitCode(): Promise<unknown> {
    return (await this.#exit)[0]
  }
}

describe('sidecar process', () => {
  let sidecar: SidecarProcess
  afterEach(() => sidecar.signal('SIGKILL'))

  it('starts without an API, serves, and stops in order on SIGTERM', async () => {
    sidecar = new SidecarProcess({ SERVER_API_KEY: 'server-secret-key', API_URL: 'http://127.0.0.1:9', LOG_LEVEL: 'info' })
    await until(() => sidecar.output.includes('"msg":"started"'), 'it has started', 10_000)
    const listening = sidecar.output.split('\n').find((line) => line.includes('"msg":"listening"'))
    const { httpPort } = JSON.parse(listening!) as { httpPort: number }
    expect(await (await fetch(`http://127.0.0.1:${httpPort}/readyz`)).json()).to.deep.equal({ status: 'UP' })
    sidecar.signal('SIGTERM')
    expect(await sidecar.exitCode()).to.equal(0)
    expect(sidecar.output).to.include('"msg":"stopped"')
    expect(sidecar.output).to.not.include('secret')
  }).timeout(15_000)

  it('lists every problem of its configuration and exits with 1', async () => {
    sidecar = new SidecarProcess({ LOG_LEVEL: 'loud', ENTITLEMENTS_FALLBACK: '{"a": 1}' })
    expect(await sidecar.exitCode()).to.equal(1)
    for (const name of ['SERVER_API_KEY', 'LOG_LEVEL', 'ENTITLEMENTS_FALLBACK']) expect(sidecar.output).to.include(name)
  })

  it('checks its configuration without starting', async () => {
    sidecar = new SidecarProcess({ OFFLINE: 'TRUE' }, ['--check-config'])
    expect(await sidecar.exitCode()).to.equal(0)
    expect(sidecar.output).to.equal('sidecar: configuration is valid\n')
  })

  for (const variable of ['PORT', 'SIDECAR_HTTP_PORT']) {
    it(`says in one sentence that ${variable} is taken`, async () => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      sidecar = new SidecarProcess({ OFFLINE: 'TRUE', [variable]: String(port) })
      expect(await sidecar.exitCode()).to.equal(1)
      other.close()
      expect(sidecar.output.trim().split('\n')).to.have.length(1)
      expect(sidecar.output).to.include(`port ${port} on 127.0.0.1 is already in use`)
    })
  }
})
