import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { runAdmin } from '../../../src/local/admin/command-line.js'
import { DirectIngestion } from '../../../src/metering/ingestion/direct-ingestion.js'
import { ingestDirectUsage, ingestUsage } from '../../../src/metering/wire/jobs.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { type JobQueue, openQueue } from '../../../src/platform/queue.js'
import { loosePrefix, queuePrefix as prefixOf } from '../../../src/platform/redis/slots.js'
import { environmentQueue } from '../../../src/updates/deliver/jobs.js'
import type { QueueMessage } from '../../../src/updates/wire/queue-message.js'
import { keepQueueScriptsLoaded } from '../../../src/wiring/queue-scripts.js'
import { metered as heldMetered, message, state, stateMessage, usage, usageMessage } from '../../contract/cache/held.js'
import { read } from '../../contract/cache/reader.js'
import { at, FakeApi, holding, metered } from '../../contract/grpc/fake-api.js'
import { type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { createEnvironment, type MeteringBench, openMeteringBench, usageOf } from '../metering/fixture.js'
import { Worker } from '../updates/external-cache/harness.js'

interface MadeUser {
  user: string
  password: string
  rules: string[]
}

/** Each user of the command does the whole work of the process that it is for, against the real server, and is refused all else. */
describe('the Redis users that environment queue-access makes', function () {
  this.timeout(60_000)

  let bench: MeteringBench
  let admin: Redis
  let environmentId: string
  let refId: string
  let otherId: string
  let serverKey: string
  let cachePrefix: string
  const users: MadeUser[] = []
  const workers: Worker[] = []

  before(async () => {
    bench = await openMeteringBench()
    admin = new Redis(testRedisUrl())
    ;[environmentId, otherId] = [await createEnvironment(bench), await createEnvironment(bench)]
    refId = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!.refId
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const key = { environment: refId, kind: 'SERVER', name: 'sidecar', expiresAt: null } as const
    serverKey = (await bench.app.environments.createKey(key)).key
    const direct = new DirectIngestion(bench.app.environments, bench.newIngestion())
    consume(bench.life, bench.queues, ingestDirectUsage(environmentId), {
      concurrency: 2,
      handler: (job, { job: { attemptsStarted } }) => direct.ingest(environmentId, job, attemptsStarted > 1),
    })
    await admin.script('FLUSH')
    keepQueueScriptsLoaded(bench.life, bench.queues)
  })
  beforeEach(() => {
    cachePrefix = testRedisPrefix()
  })
  afterEach(async () => {
    // Also those of a test that failed.
    for (const worker of workers.splice(0)) await worker.stop()
    for (const { user } of users.splice(0)) await admin.acl('DELUSER', user)
    const keys = await admin.keys(`${cachePrefix}:*`)
    if (keys.length > 0) await admin.del(keys)
  })
  after(async () => {
    admin.disconnect()
    expect(await bench.close()).to.deep.equal([])
  })

  async function run(...args: string[]) {
    return runAs('queue-access', ...args)
  }

  async function runAs(command: string, ...args: string[]) {
    const [output, errors]: [string[], string[]] = [[], []]
    const code = await runAdmin({
      args: ['environment', command, '--environment', refId, ...args],
      databaseUrl: bench.databaseUrl,
      redisUrl: testRedisUrl(),
      queuePrefix: bench.queues.prefix,
      folder: '.',
      print: (text) => output.push(text),
      printError: (text) => errors.push(text),
    })
    return { code, output: output.join('\n'), errors: errors.join('\n') }
  }

  /** The user of the queue is made by the command, that of the cache by what it says. */
  async function make(kind: string): Promise<{ queue: MadeUser; cache: MadeUser }> {
    const { code, output, errors } = await run('--for', kind, '--cache-prefix', cachePrefix, '--apply', '--json')
    expect(code, errors).to.equal(0)
    const { queue, cache } = JSON.parse(output)
    users.push(queue, cache)
    await admin.acl('SETUSER', cache.user, 'reset', 'on', `>${cache.password}`, ...cache.rules)
    return { queue, cache }
  }

  function urlOf({ user, password }: MadeUser, parameters: Record<string, string> = {}): string {
    const url = new URL(testRedisUrl())
    ;[url.username, url.password] = [user, password]
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }

  /** What Redis has refused to the user since it was made. */
  async function refusals({ user }: MadeUser): Promise<string[]> {
    const entries = (await admin.acl('LOG', '128')) as string[][]
    const facts = entries.map((entry) =>
      Object.fromEntries(Array.from({ length: entry.length / 2 }, (_, n) => [entry[2 * n], entry[2 * n + 1]])),
    )
    return facts.filter(({ username }) => username === user).map(({ reason, object }) => `${reason} ${object}`)
  }

  /** As if somebody had the user's password. */
  async function expectNothingElse(user: MadeUser, own: string): Promise<void> {
    const stranger = new Redis(urlOf(user), { enableReadyCheck: false, disableClientInfo: true, retryStrategy: () => null })
    stranger.on('error', () => undefined)
    const { prefix } = bench.queues
    const others = [
      `${loosePrefix(prefix)}:state:v2:7-1:${environmentId}:8:customer`,
      `${prefix}:change-stream:${environmentId}`,
      `${prefixOf(prefix, ingestUsage.queue)}:${ingestUsage.queue}:wait`,
      `${prefixOf(prefix, ingestDirectUsage(otherId).queue)}:${ingestDirectUsage(otherId).queue}:wait`,
      `${prefixOf(prefix, environmentQueue(otherId).queue)}:${environmentQueue(otherId).queue}:wait`,
      `${prefixOf(prefix, 'cache-invalidation')}:cache-invalidation:wait`,
      `other${own}`,
    ]
    const attempts: string[][] = [
      ...others.flatMap((key) => [
        ['GET', key],
        ['DEL', key],
        ['LLEN', key],
        ['HGETALL', key],
        ['SET', key, 'x'],
      ]),
      ...[`${prefix}:changes:${environmentId}`, `${prefix}:replies:${otherId}:door`, '__keyspace@0__:*', '*'].flatMap((channel) => [
        ['SUBSCRIBE', channel],
        ['PSUBSCRIBE', channel],
        ['PUBLISH', channel, 'x'],
      ]),
      ['PUBLISH', `${prefix}:replies:${environmentId}:door`, 'x'],
      ...[
        ['KEYS', '*'],
        ['RANDOMKEY'],
        ['DBSIZE'],
        ['INFO'],
        ['INFO', 'keyspace'],
        ['MONITOR'],
        ['SORT', own],
        ['SCRIPT', 'FLUSH'],
        ['SCRIPT', 'KILL'],
        ['SCRIPT', 'LOAD', 'return 1'],
        ['FUNCTION', 'LIST'],
        ['FUNCTION', 'FLUSH'],
        ['FUNCTION', 'KILL'],
        ['FCALL', 'any', '0'],
        ['CONFIG', 'GET', '*'],
        ['CONFIG', 'SET', 'maxmemory', '1'],
        ['SHUTDOWN', 'NOSAVE'],
        ['FLUSHALL'],
        ['FLUSHDB'],
        ['SWAPDB', '0', '1'],
        ['ACL', 'LIST'],
        ['ACL', 'SETUSER', user.user, '+@all'],
        ['CLIENT', 'LIST'],
        ['CLIENT', 'KILL', 'TYPE', 'normal'],
        ['CLIENT', 'PAUSE', '1'],
        ['REPLICAOF', 'NO', 'ONE'],
        ['MIGRATE', '127.0.0.1', '1', own, '0', '1'],
        ['RENAME', own, `other${own}`],
        ['MEMORY', 'DOCTOR'],
        ['LATENCY', 'DOCTOR'],
        ['SAVE'],
        ['BGSAVE'],
        ['MODULE', 'LIST'],
        ['PUBSUB', 'CHANNELS'],
      ],
    ]
    const done: string[] = []
    for (const [command, ...args] of attempts) {
      const outcome = await stranger.call(command!, ...args).then(
        () => 'done',
        (error: Error) => error.message,
      )
      if (!/^NOPERM/.test(outcome)) done.push(`${command} ${args.join(' ')}: ${outcome}`)
    }
    stranger.disconnect()
    expect(done).to.deep.equal([])
  }

  /** Also the scripts that it may run, on somebody else's keys. */
  async function expectNoOtherScripts(user: MadeUser, mayEval: boolean): Promise<void> {
    const stranger = new Redis(urlOf(user), { enableReadyCheck: false, disableClientInfo: true, retryStrategy: () => null })
    stranger.on('error', () => undefined)
    const steal = "return redis.call('GET', KEYS[1])"
    const digest = (await admin.script('LOAD', steal)) as string
    const other = `${bench.queues.prefix}:${ingestUsage.queue}:id`
    const outcome = (call: Promise<unknown>) =>
      call.then(
        () => 'done',
        (error: Error) => error.message,
      )
    expect(await outcome(stranger.evalsha(digest, 1, other))).to.match(/NOPERM|can't (access|run)/)
    const hidden = (await admin.script('LOAD', "return redis.call('GET', ARGV[1])")) as string
    expect(await outcome(stranger.evalsha(hidden, 0, other))).to.match(/NOPERM|can't (access|run)/)
    const looping = await outcome(stranger.eval('return 1', 0))
    expect(looping).to.match(mayEval ? /^done$/ : /^NOPERM/)
    stranger.disconnect()
  }

  describe('sidecar', () => {
    let api: FakeApi
    let sidecar: RunningSidecar | undefined

    beforeEach(async () => {
      api = await FakeApi.start()
      api.acceptedKey = serverKey
    })
    afterEach(async () => {
      await sidecar?.stop()
      sidecar = undefined
      await api.stop()
    })

    async function start(queue: MadeUser, cache: MadeUser): Promise<RunningSidecar> {
      const url = new URL(testRedisUrl())
      sidecar = await runSidecar({
        SERVER_API_KEY: serverKey,
        API_URL: api.url,
        QUEUE_REDIS_URL: urlOf(queue, { environment: environmentId, prefix: bench.queues.prefix }),
        REDIS_ENVIRONMENT_PREFIX: cachePrefix,
        REDIS_HOST: url.hostname,
        REDIS_PORT: url.port,
        REDIS_DB: url.pathname.slice(1) || '0',
        REDIS_USERNAME: cache.user,
        REDIS_PASSWORD: cache.password,
      })
      return sidecar
    }

    it('adds usage and hears the answer, also after Redis has forgotten the scripts, and reaches nothing else', async () => {
      const { queue, cache } = await make('sidecar')
      const running = await start(queue, cache)
      const report = () => running.call('ReportUsage', { customer_id: 'customer', feature_id: 'calls', value: 1 })
      await until(
        () =>
          report().then(
            () => true,
            () => false,
          ),
        'usage is taken',
        10_000,
      )
      expect(Number(await usageOf(bench, environmentId, 'customer', 'calls'))).to.be.at.least(1)
      await running.call('ReportEvents', { events: [{ customer_id: 'customer', event_name: 'request', idempotency_key: 'k1' }] })
      await admin.script('FLUSH')
      await until(
        () =>
          report().then(
            () => true,
            () => false,
          ),
        'the scripts are loaded again',
        20_000,
      )
      expect((await refusals(queue)).filter((refusal) => refusal !== 'command eval')).to.deep.equal([])
      await expectNothingElse(queue, `${bench.queues.prefix}:${ingestDirectUsage(environmentId).queue}:wait`)
      await expectNoOtherScripts(queue, false)
    })

    it('reads the external cache, and writes what the API answered once the service has shown Redis how', async () => {
      const service = await make('persistent-cache-service')
      const { queue, cache } = await make('sidecar')
      const running = await start(queue, cache)
      const check = async () =>
        (await running.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'api-calls' })).entitlement?.current_usage
      api.states.set('c', holding(metered('api-calls', { currentUsage: 3, entitlementUpdatedAt: at(1), usageUpdatedAt: at(1) })))
      // given: a script that is not there
      for (let n = 0; n < 6; n++) {
        api.states.set(`c${n}`, api.states.get('c')!)
        await running.call('GetMeteredEntitlement', { customer_id: `c${n}`, feature_id: 'api-calls' })
      }
      expect(await admin.exists(`${cachePrefix}:c_c0`)).to.equal(0)
      // when: the service has written
      const worker = await serve(service)
      await changesOf(environmentId).add(stateMessage(state(5, [heldMetered('calls', usage(1, 5))])))
      await until(async () => (await admin.exists(`${cachePrefix}:c_acme`)) === 1, 'the service has written', 10_000)
      await worker.stop()
      // then
      expect(await check()).to.equal(3)
      await until(async () => (await admin.exists(`${cachePrefix}:c_c`)) === 1, 'the answer is in the cache')
      const asked = api.operations.length
      expect(await check()).to.equal(3)
      expect(api.operations).to.have.length(asked)
      expect((await refusals(cache)).filter((refusal) => refusal !== 'command eval')).to.deep.equal([])
      await expectNothingElse(cache, `${cachePrefix}:c_c`)
      await expectNoOtherScripts(cache, false)
    })
  })

  function changesOf(ofEnvironment: string): Pick<JobQueue<QueueMessage>, 'add'> {
    const queue = openQueue(bench.life, bench.queues, environmentQueue(ofEnvironment))
    return { add: (told) => queue.add({ ...told, environmentId: ofEnvironment }) }
  }

  async function serve({ queue, cache }: { queue: MadeUser; cache: MadeUser }): Promise<Worker> {
    const url = new URL(testRedisUrl())
    const worker = await Worker.start({
      QUEUE_URL: urlOf(queue, { queue: environmentQueue(environmentId).queue, prefix: bench.queues.prefix }),
      SERVER_API_KEY: serverKey,
      EDGE_API_URL: 'http://127.0.0.1:1',
      ENVIRONMENT_PREFIX: cachePrefix,
      REDIS_HOST: url.hostname,
      REDIS_PORT: url.port,
      REDIS_DB: url.pathname.slice(1) || '0',
      REDIS_USER: cache.user,
      REDIS_PASSWORD: cache.password,
    })
    workers.push(worker)
    await until(async () => (await worker.readiness())?.status === 'UP', 'it is ready', 10_000)
    return worker
  }

  describe('persistent-cache-service', () => {
    it('takes changes, puts back and sets aside what it cannot apply, purges, and reaches nothing else', async () => {
      const { queue, cache } = await make('persistent-cache-service')
      const worker = await serve({ queue, cache })
      const changes = changesOf(environmentId)
      const board = new Queue(environmentQueue(environmentId).queue, {
        connection: admin,
        prefix: prefixOf(bench.queues.prefix, environmentQueue(environmentId).queue),
      })
      await changes.add(stateMessage(state(5, [heldMetered('calls', usage(1, 5))])))
      await changes.add(usageMessage('calls', usage(2, 6)))
      await until(async () => (await read(admin, cachePrefix, 'acme'))?.features.calls?.usage?.currentUsage === 2, 'it is written', 10_000)
      // given: the API is away, a message of another version, one that is none
      await changes.add(message('entitlements', 9, { resourceId: 'site-1' }))
      await board.add('change', { v: 99 })
      await board.add('change', { v: 1, kind: 'nonsense' })
      await until(
        async () => (await board.getDelayedCount()) === 2 && (await board.getFailedCount()) === 1,
        'they are out of the way',
        10_000,
      )
      await changes.add(message('purge', 10))
      await until(async () => (await read(admin, cachePrefix, 'acme')) === null, 'it is purged', 10_000)
      // Out of order, so that all that is kept of the queue is read and written. Nothing is left to be read anew.
      const place = (sequence: number) => ({ ...message('package', 1), epoch: 1, sequence })
      for (const told of [place(2), { v: 1, id: 'r', environmentId, kind: 'reload', epoch: 1, timestamp: 1 } as const])
        await changes.add(told)
      await changes.add({ v: 1, id: 'h', environmentId, kind: 'heartbeat', epoch: 1, sequence: 2, asOf: 77, timestamp: 1 })
      await changes.add(place(1))
      await until(async () => (await admin.get(`${cachePrefix}:heartbeat`)) === '77', 'its heart beats', 10_000)
      expect(await worker.stop()).to.equal(0)
      await board.close()
      expect(await refusals(queue)).to.deep.equal([])
      expect(await refusals(cache)).to.deep.equal([])
      await expectNothingElse(queue, `${bench.queues.prefix}:${environmentQueue(environmentId).queue}:wait`)
      await expectNoOtherScripts(queue, false)
      await expectNothingElse(cache, `${cachePrefix}:c_acme`)
      await expectNoOtherScripts(cache, true)
    })
  })

  it('is told by a line that another may run, that of a persistent-cache-service unless another is asked for', async () => {
    const { output } = await run('--for', 'sidecar')
    expect(output).to.match(new RegExp(`^# In the platform's Redis:\nACL SETUSER sidecar-${refId} reset on '?>[\\w-]{32}'? '~`))
    expect(output).not.to.include('external cache')
    expect(await admin.acl('USERS')).not.to.include(`sidecar-${refId}`)
    const usual = await run()
    expect(usual.output).to.match(
      new RegExp(`\\nACL SETUSER persistent-cache-service-${refId} reset on [^\n]*environment-${environmentId}:`),
    )
    expect((await runAs('redis-acl')).output.replace(/>\S+/g, '')).to.equal(usual.output.replace(/>\S+/g, ''))
    for (const args of [
      ['--for', 'everybody'],
      ['--for', 'sidecar', '--cache-prefix', 'a b'],
    ])
      expect((await run(...args)).code).to.equal(2)
  })
})
