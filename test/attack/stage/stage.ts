/** The platform that is attacked, a bare server beside it, and another tenant who calls meanwhile. */
import type { Life } from '../../../src/platform/process.js'
import { ServerProcess } from '../../bench/stack/server-process.js'
import { addCustomers, type ProcessName, type Stack, startStack } from '../../bench/stack/stack.js'
import type { StackProcess } from '../../bench/stack/stack-process.js'
import { webCatalog } from '../../bench/web/content.js'
import { makeToken } from '../../support/customer-token.js'
import type { Attack, Target } from '../attack.js'
import type { Counts } from '../attacker/main.js'
import { attacks } from '../attacks.js'
import { mostMemoryAfter, type Row } from '../row.js'
import { Forked } from './forked.js'
import { LogWatch } from './log-watch.js'
import type { OtherFigures, OtherOrders } from './other.js'

const operatorKey = 'operator-key-of-an-attacked-platform'
const customers = 200
const customerId = 'customer-1'
const featureId = 'feature-0'
/**
 * What is large and freed is given back to the system at once, so that the memory of a process is what it needs, and not what its allocator keeps for the next
 * time: glibc's own tunables. What is read from a socket, 64 KiB at a time, is used again as always; the rest comes in large pages, as where a page takes its
 * time most of a step would be that otherwise.
 */
const allocator = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
}
/** What is collected for the sake of the figures would otherwise take the compiled code of WebAssembly along, and the next step would be that of compiling it. */
const nodeArgs = ['--max-old-space-size=512', '--expose-gc', '--no-flush-liftoff-code']
const sampleMs = 25
/** Caches forget what is unknown, sockets are let go, and Node gives back the pages of a thread that has ended, in this time. */
const recoverMs = 20_000
const warmUpSeconds = 2
const answerMs = 90_000

type Attacked = 'web' | 'sidecar'

export class Stage {
  readonly #running = new Map<string, StackProcess>()
  readonly #logs: LogWatch

  private constructor(
    private readonly stack: Stack,
    private readonly bare: ServerProcess,
    private readonly keys: { clientKey: string; customerToken: string; otherKey: string },
  ) {
    this.#logs = new LogWatch([stack.serverKey, operatorKey, ...Object.values(keys)])
  }

  static async open(life: Life): Promise<Stage> {
    const stack = await startStack(life, webCatalog)
    const { environments } = stack.app
    await addCustomers(stack, customers, 'big')
    const { signingSecret } = await environments.rotateSigningSecret('bench', { overlapMs: 0 })
    const { key: clientKey } = await environments.createKey({ environment: 'bench', kind: 'CLIENT', name: 'browser', expiresAt: null })
    await environments.create({ refId: 'other' })
    const { key: otherKey } = await environments.createKey({ environment: 'other', kind: 'SERVER', name: 'other', expiresAt: null })
    const bare = await ServerProcess.start('bare', new URL('./bare.js', import.meta.url), { env: allocator })
    life.open('bare', bare, (server) => server.stop())
    const keys = { clientKey, customerToken: makeToken(customerId, signingSecret), otherKey }
    const stage = new Stage(stack, bare, keys)
    await stage.startMissing()
    await stage.#warmUp()
    return stage
  }

  /** Starts what does not run, in order: the sidecar needs the web process. Answers how many had died. */
  async startMissing(): Promise<number> {
    let died = 0
    for (const name of ['web', 'usage-ingestion', 'event-aggregation', 'cache-invalidation', 'sidecar'] as const) {
      const running = this.#running.get(name)
      if (running?.isRunning) continue
      if (running) died += 1
      this.#running.set(name, await this.#start(name))
      // It knows the address of the web process that is gone.
      if (running && name === 'web') await this.#restartSidecar()
    }
    return died
  }

  #start(name: ProcessName): Promise<StackProcess> {
    return this.stack.start(name, this.#variablesOf(name), { nodeArgs, onLine: (line) => this.#logs.take(line) })
  }

  /** What a process keeps once it has worked at all is not the fault of the first attack. */
  async #warmUp(): Promise<void> {
    const urls = { web: this.#process('web').url, sidecar: this.#process('sidecar').url }
    for (const names of [['heavy-documents', 'stalled-bodies-60'], ['grpc-unknown-customers']]) {
      const chosen = attacks.filter(({ name }) => names.includes(name))
      await this.#attack(chosen, urls, chosen[0]!.against ?? 'web', warmUpSeconds)
    }
  }

  #variablesOf(name: string): Record<string, string> {
    if (name === 'web') return { ...allocator, OPERATOR_KEY: operatorKey }
    // Half a request is nothing but what was read from a socket: it is to be given back too.
    if (name === 'sidecar')
      return { ...allocator, MALLOC_MMAP_THRESHOLD_: '32768', SERVER_API_KEY: this.stack.serverKey, API_URL: this.#process('web').url }
    return {}
  }

  async #restartSidecar(): Promise<void> {
    await this.#running.get('sidecar')?.stop()
    this.#running.set('sidecar', await this.#start('sidecar'))
  }

  #process(name: Attacked): StackProcess {
    return this.#running.get(name)!
  }

  #target(urls: Record<Attacked, string>): Target {
    const { clientKey, customerToken } = this.keys
    const { web: webUrl, sidecar: sidecarUrl } = urls
    return { webUrl, sidecarUrl, serverKey: this.stack.serverKey, clientKey, customerToken, customerId, featureId, operatorKey }
  }

  /** Lets the attacks run at a time, first at the platform and then at the bare server. */
  async face(name: string, names: readonly string[], seconds: number): Promise<Row> {
    const chosen = names.map((one) => attacks.find((attack) => attack.name === one)!)
    const attacked: Attacked = chosen[0]!.against ?? 'web'
    const subject = this.#process(attacked)
    await subject.collectGarbage()
    const memoryBeforeMb = subject.residentMegabytes()
    let memoryMostMb = memoryBeforeMb
    await subject.longestDelayMs()
    await subject.longestStepMs()
    this.#logs.lap()
    const sampling = setInterval(() => {
      if (subject.isRunning) memoryMostMb = Math.max(memoryMostMb, subject.residentMegabytes())
    }, sampleMs)
    const urls = { web: this.#process('web').url, sidecar: this.#process('sidecar').url }
    const { counts, other } = await this.#attack(chosen, urls, attacked, seconds)
    const longestDelayMs = await subject.longestDelayMs().catch(() => Number.NaN)
    const longestStepMs = await subject.longestStepMs().catch(() => Number.NaN)
    const longestCollectionMs = await subject.longestCollectionMs().catch(() => Number.NaN)
    const memoryAfterMb = await this.#memoryAfter(subject, memoryBeforeMb)
    clearInterval(sampling)
    const logs = this.#logs.lap()
    const died = await this.startMissing()
    const { httpPort, grpcPort } = this.bare.ports
    const bareUrls = { web: `http://127.0.0.1:${httpPort}`, sidecar: `http://127.0.0.1:${grpcPort}` }
    const bodyStepMs = await this.bare.bodyStepMs()
    const bare = await this.#attack(chosen, bareUrls, attacked, Math.min(seconds, 1.5))
    return {
      attack: name,
      ...counts,
      ...logs,
      died,
      longestDelayMs: Math.round(longestDelayMs),
      longestStepMs: Math.round(longestStepMs),
      bodyStepMs: Math.round(bodyStepMs),
      longestCollectionMs: Math.round(longestCollectionMs),
      memoryBeforeMb: Math.round(memoryBeforeMb),
      memoryMostMb: Math.round(memoryMostMb),
      memoryAfterMb: Math.round(memoryAfterMb),
      otherLost: other.lost,
      otherP50Ms: tenths(other.p50Ms),
      otherP99Ms: tenths(other.p99Ms),
      bareP99Ms: tenths(bare.other.p99Ms),
      mustBeRefused: chosen.every(({ mustBeRefused }) => mustBeRefused === true),
    }
  }

  /** Waits for it to come down for as long as is allowed. */
  async #memoryAfter(subject: StackProcess, memoryBeforeMb: number): Promise<number> {
    const end = performance.now() + recoverMs
    for (;;) {
      if (!subject.isRunning) return Number.NaN
      await subject.collectGarbage().catch(() => undefined)
      const memoryMb = subject.residentMegabytes()
      if (!(memoryMb > mostMemoryAfter(memoryBeforeMb)) || performance.now() > end) return memoryMb
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }

  async #attack(chosen: readonly Attack[], urls: Record<Attacked, string>, attacked: Attacked, seconds: number) {
    const other = new Forked(new URL('./other.js', import.meta.url))
    const attackers: Forked[] = []
    try {
      const orders: OtherOrders = {
        url: urls[attacked],
        serverKey: this.keys.otherKey,
        ...(attacked === 'sidecar' && { check: { customerId: 'customer-2', featureId } }),
      }
      await other.ask(orders, answerMs)
      const target = this.#target(urls)
      const counts = await Promise.all(
        chosen.map(({ name: attack }, index) => {
          const attacker = new Forked(new URL('../attacker/main.js', import.meta.url))
          attackers.push(attacker)
          return attacker.ask<Counts>({ attack, target, seconds, index }, answerMs)
        }),
      )
      return { counts: sumOf(counts), other: await other.ask<OtherFigures>({}, answerMs) }
    } finally {
      for (const forked of [other, ...attackers]) forked.kill()
    }
  }
}

const tenths = (value: number) => Math.round(value * 10) / 10

function sumOf(counts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, one) => total + one[name], 0)
  return { tried: sum('tried'), refused: sum('refused'), granted: sum('granted'), faults: sum('faults') }
}
