import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Ports } from '../../../src/local/processes/ports.js'
import { eventually } from '../../support/eventually.js'
import { testSecretsKey } from '../../support/webhooks.js'
import { type Bench, openBench } from '../subscription/fixture.js'

const worker = fileURLToPath(new URL('../../../workers/webhook-delivery.js', import.meta.url))

export interface Worker {
  child: ChildProcess
  /** What it logged. */
  lines: string[]
  metrics(): Promise<string>
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface WebhookBench extends Bench {
  /** The real process, ready. */
  startWorker(env?: Record<string, string>): Promise<Worker>
  stopWorkers(): Promise<void>
  closeAll(): Promise<Error[]>
}

export async function openWebhookBench(): Promise<WebhookBench> {
  const bench = await openBench()
  const ports = new Ports()
  const running = new Set<Worker>()
  const stopWorkers = async () => {
    for (const worker of running) await worker.stop()
  }
  return {
    ...bench,
    async startWorker(env = {}) {
      const port = await ports.take()
      const child = fork(worker, {
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: bench.databaseUrl,
          BIND_ADDRESS: '127.0.0.1',
          PORT: String(port),
          SECRETS_KEY: testSecretsKey,
          WEBHOOK_TARGETS: 'loopback',
          SWEEP_INTERVAL_MS: '50',
          LOG_LEVEL: 'error',
          ...env,
        },
        execArgv: [],
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      })
      const lines: string[] = []
      createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line))
      const end = async (signal: NodeJS.Signals) => {
        const ended = new Promise((resolve) => child.once('exit', resolve))
        // One that stands still does not hear that it is to stop.
        child.kill('SIGCONT')
        if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await ended
        running.delete(started)
      }
      const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const started: Worker = { child, lines, metrics, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
      running.add(started)
      await eventually(
        'the worker to be ready',
        async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok ?? false,
      )
      return started
    },
    stopWorkers,
    async closeAll() {
      await stopWorkers()
      ports.release()
      return bench.close()
    },
  }
}
