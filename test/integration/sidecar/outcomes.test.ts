import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { detailsOf, errorOf, type RunningSidecar, runSidecar } from '../../contract/grpc/harness.js'
import { stallingSession, whileCommitsStall } from '../../support/stalled-commits.js'
import { TcpProxy } from '../../support/tcp-proxy.js'
import { count, createEnvironment, eventually, type MeteringBench, openMeteringBench, usageOf } from '../metering/fixture.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'

const workerPath = fileURLToPath(new URL('../../../workers/usage-ingestion.js', import.meta.url))

/** A sidecar, the API behind a way that can be cut, and a worker that can be stopped: what it says of reports, and what is counted. */
describe('reports through a sidecar while something breaks', () => {
  let bench: MeteringBench
  let environmentId: string
  let web: WebProcess
  let proxy: TcpProxy
  let sidecar: RunningSidecar
  let worker: ChildProcess | undefined
  /** What is done when an answer of the API passes. */
  let onAnswer: (() => void) | undefined

  beforeEach(async function () {
    this.timeout(20_000)
    bench = await openMeteringBench({ shards: 1, session: stallingSession })
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const { refId } = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    const { key } = await bench.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })
    web = await openWebProcess(bench, 'web')
    proxy = await TcpProxy.start(web.url, (from, data) => {
      if (from === 'server' && data.includes('reportUsage')) onAnswer?.()
    })
    sidecar = await runSidecar({ SERVER_API_KEY: key, API_URL: `http://127.0.0.1:${proxy.port}`, WS_ENABLED: 'FALSE' })
  })
  afterEach(async () => {
    onAnswer = undefined
    await sidecar.stop()
    await proxy.stop()
    if (worker?.exitCode === null) {
      const exited = new Promise((resolve) => worker!.once('exit', resolve))
      worker.kill('SIGKILL')
      await exited
    }
    worker = undefined
    expect(await web.life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })

  const report = (deadlineMs: number, changes: object = {}) =>
    sidecar.call('ReportUsage', { customer_id: 'customer', feature_id: 'calls', value: 1, ...changes }, deadlineMs)
  const usage = () => usageOf(bench, environmentId, 'customer', 'calls')
  const stored = () => count(bench.pool, 'usage_measurement', environmentId)
  const idempotency_key = 'chosen'
  /** Where the client has not ended the call itself, which this machine may be slow enough for. */
  const expectUnknown = async (failed: Promise<unknown>) => {
    const error = await errorOf(failed)
    expect(error.code).to.equal(4)
    if (error.metadata.get('grpc-status-details-bin').length === 0) return
    expect(detailsOf(error).info).to.deep.include({
      reason: 'USAGE_OUTCOME_UNKNOWN',
      metadata: { outcome: 'unknown', idempotencyKey: idempotency_key },
    })
  }
  const startWorker = () => {
    worker = fork(workerPath, {
      env: {
        ...process.env,
        PORT: '0',
        BIND_ADDRESS: '127.0.0.1',
        LOG_LEVEL: 'error',
        DATABASE_URL: bench.databaseUrl,
        REDIS_URL: bench.queues.redisUrl,
        QUEUE_PREFIX: bench.queues.prefix,
      },
    })
    // It takes a while to start.
    return eventually(
      () =>
        report(9_000, { value: 0 }).then(
          () => true,
          () => false,
        ),
      (isCounted) => isCounted,
    )
  }

  it('counts a report once whose answer is lost with the connection, and answers it after all', async () => {
    bench.startIngestion()
    let cuts = 0
    onAnswer = () => {
      if (cuts++ > 0) return
      proxy.cut()
      setTimeout(() => proxy.mend(), 100)
    }
    expect(await report(9_000)).to.include({ current_usage: 1 })
    expect(cuts).to.be.above(1)
    expect(await stored()).to.equal(1)
  }).timeout(20_000)

  it('does not know what became of it when the connection stays away, and a repeat under its key counts it once', async () => {
    bench.startIngestion()
    onAnswer = () => proxy.cut()
    await expectUnknown(report(1_000, { idempotency_key }))
    expect(await eventually(stored, (known) => known === 1)).to.equal(1)
    onAnswer = undefined
    proxy.mend()
    expect(await report(9_000, { idempotency_key })).to.include({ current_usage: 1 })
    expect(await stored()).to.equal(1)
    // One that never left is another matter.
    proxy.cut()
    await sidecar.call('GetBooleanEntitlement', { customer_id: 'customer', feature_id: 'sso' }, 200).catch(() => undefined)
    await proxy.stop()
    expect((await errorOf(report(1_000))).code).to.equal(14)
    expect(await stored()).to.equal(1)
  }).timeout(20_000)

  it('does not know what became of it while commits stall, and a repeat under its key counts it once', async () => {
    bench.startIngestion()
    await report(9_000)
    await whileCommitsStall(bench.databaseUrl, () => expectUnknown(report(1_500, { idempotency_key })))
    expect(await report(9_000, { idempotency_key })).to.include({ current_usage: 2 })
    expect(await stored()).to.equal(2)
  }).timeout(20_000)

  it('answers when the worker stood still for a moment', async () => {
    expect(await startWorker()).to.equal(true)
    worker!.kill('SIGSTOP')
    const sent = report(9_000)
    await sleep(1_500)
    worker!.kill('SIGCONT')
    expect(await sent).to.include({ current_usage: 1 })
    expect(await usage()).to.equal('1')
  }).timeout(30_000)

  it('does not know what became of it when the worker stands still past its deadline; it was not counted, and a repeat is', async () => {
    expect(await startWorker()).to.equal(true)
    worker!.kill('SIGSTOP')
    await expectUnknown(report(7_500, { idempotency_key }))
    worker!.kill('SIGCONT')
    expect(await report(9_000, { idempotency_key })).to.include({ current_usage: 1 })
    await sleep(1_000)
    expect(await usage()).to.equal('1')
  }).timeout(40_000)
})
