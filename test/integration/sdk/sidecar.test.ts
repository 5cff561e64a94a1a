import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type Sidecar, SidecarError, type SidecarOptions, startSidecar } from '../../../src/sdk/sidecar/index.js'
import { boolean, enumerated, FakeApi, holding, metered, numeric } from '../../contract/grpc/fake-api.js'
import { type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'

const host = fileURLToPath(new URL('./host.js', import.meta.url))

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('Sidecar SDK', () => {
  let api: FakeApi
  let sidecar: Sidecar | undefined

  beforeEach(async () => {
    api = await FakeApi.start()
    api.states.set(
      'acme',
      holding(
        boolean('sso'),
        numeric('projects', 25),
        enumerated('region', ['eu', 'us']),
        metered('api-calls', { usageLimit: 10, currentUsage: 4 }),
      ),
    )
  })
  afterEach(async () => {
    await sidecar?.close()
    sidecar = undefined
    await api.stop()
  })

  const start = async (options: Partial<SidecarOptions> = {}): Promise<Sidecar> => {
    sidecar = await startSidecar({ apiConfig: { apiKey: api.acceptedKey, apiUrl: api.url }, ...options })
    return sidecar
  }

  describe('with a remote sidecar', () => {
    let remote: RunningSidecar
    const connect = (options: Partial<SidecarOptions> = {}) =>
      start({ remoteSidecarHost: '127.0.0.1', remoteSidecarPort: remote.grpcPort, ...options })

    beforeEach(async () => {
      remote = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url })
    })
    afterEach(() => remote.stop())

    it('asks every kind of question and answers in its own words', async () => {
      const client = await connect()
      expect(client.pid).to.equal(undefined)
      const held = await client.getMeteredEntitlement({ customerId: 'acme', featureId: 'api-calls', requestedUsage: 7 })
      expect(held).to.deep.include({ hasAccess: false, isFallback: false, accessDeniedReason: 'REQUESTED_USAGE_EXCEEDING_LIMIT' })
      expect(held.entitlement).to.deep.include({
        usageLimit: 10,
        currentUsage: 4,
        resetPeriod: 'MONTH',
        hasSoftLimit: false,
        isUnlimited: false,
      })
      expect(held.entitlement?.feature).to.deep.include({ id: 'api-calls', featureType: 'NUMBER', meterType: 'INCREMENTAL', units: 'call' })
      expect(held.entitlement?.usagePeriodEnd?.toISOString()).to.equal('2126-01-01T00:00:00.000Z')
      expect(await client.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })).to.deep.include({
        hasAccess: true,
        accessDeniedReason: null,
      })
      expect((await client.getNumericEntitlement({ customerId: 'acme', featureId: 'projects' })).entitlement).to.include({ value: 25 })
      const region = await client.getEnumEntitlement({ customerId: 'acme', featureId: 'region', requestedValues: ['eu', 'ap'] })
      expect(region).to.deep.include({ hasAccess: false, accessDeniedReason: 'REQUESTED_VALUES_MISMATCH' })
      const any = await client.getEntitlement({ customerId: 'acme', featureId: 'region', requestedValues: ['eu'] })
      expect(any).to.deep.include({ hasAccess: true })
      expect(any.entitlement).to.deep.include({ type: 'enum', enumValues: ['eu', 'us'] })
      const { entitlements } = await client.getEntitlements({ customerId: 'acme' })
      expect(entitlements.map(({ type }) => type)).to.deep.equal(['boolean', 'numeric', 'enum', 'metered'])
      expect(await client.getEntitlements({ customerId: 'nobody' })).to.deep.equal({
        entitlements: [],
        accessDeniedReason: 'CUSTOMER_NOT_FOUND',
      })
      expect(await client.reloadEntitlements({ customerId: 'nobody' })).to.equal(false)
    })

    it('reports usage and events', async () => {
      const client = await connect()
      const at = new Date('2026-01-02T03:04:05.678Z')
      const report = {
        customerId: 'acme',
        featureId: 'api-calls',
        value: 3,
        dimensions: { region: 'eu', cached: false, size: 2 },
        timestamp: at,
      }
      const reported = await client.reportUsage({ ...report, updateBehavior: 'SET' })
      expect(reported).to.deep.include({ measurementId: 'measurement-1', customerId: 'acme', resourceId: null, currentUsage: 3 })
      expect(reported.usagePeriodStart).to.be.instanceOf(Date)
      const sent = api.operations[0]!.variables.input!
      expect(sent).to.deep.include({ updateBehavior: 'SET', createdAt: at.toISOString(), dimensions: report.dimensions })
      expect((await client.reportUsageBulk([report, report])).map(({ measurementId }) => measurementId)).to.have.length(2)
      await client.reportEvents([{ customerId: 'acme', eventName: 'call', idempotencyKey: 'k', dimensions: { ms: 1.5 }, timestamp: at }])
      expect(api.operations.at(-1)!.variables.events!.usageEvents[0]).to.deep.include({ eventName: 'call', dimensions: { ms: 1.5 } })
    })

    it('fails with the status and the message of a call that is no check', async () => {
      const client = await connect()
      api.behaviour = { code: 'FeatureNotFound', message: 'No feature api-calls' }
      const error = await client.reportUsage({ customerId: 'acme', featureId: 'api-calls', value: 1 }).catch((problem: unknown) => problem)
      expect(error).to.be.instanceOf(SidecarError).and.to.include({ code: 'NOT_FOUND', message: 'No feature api-calls' })
    })

    describe('reports under one key', () => {
      const usage = { customerId: 'acme', featureId: 'api-calls', value: 1 }
      const sentKeys = () => api.operations.map(({ variables }) => variables.input!.idempotencyKey)
      const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: SidecarError) => error)

      it('of its own or the caller’s, and keeps it while the sidecar is away for a moment', async () => {
        const client = await connect()
        await client.reportUsage(usage)
        await client.reportUsage({ ...usage, idempotencyKey: 'chosen' })
        expect(sentKeys()[1]).to.equal('chosen')
        const { grpcPort } = remote
        await remote.stop()
        const sent = client.reportUsage({ ...usage, timeoutMs: 8_000 })
        await new Promise((resolve) => setTimeout(resolve, 300))
        remote = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, PORT: String(grpcPort) })
        await sent
        expect(new Set(sentKeys()).size).to.equal(3)
      }).timeout(20_000)

      it('and says that nothing was counted when nobody was there', async () => {
        const client = await connect({ timeoutMs: 300 })
        await remote.stop()
        const failure = await failureOf(client.reportUsage({ ...usage, idempotencyKey: 'chosen' }))
        expect(failure).to.be.instanceOf(SidecarError).and.to.include({ code: 'UNAVAILABLE' })
        expect(failure!.usage).to.deep.equal({ outcome: 'notCounted', idempotencyKeys: ['chosen'] })
      })

      it('and says that it does not know, when nobody answers, or the sidecar does not', async () => {
        const client = await connect({ timeoutMs: 300 })
        for (const behaviour of ['hangs', 'breaks'] as const) {
          api.behaviour = behaviour
          api.operations.splice(0)
          const failure = await failureOf(client.reportUsage(usage))
          expect(failure).to.include({ code: 'DEADLINE_EXCEEDED' })
          expect(failure!.usage).to.deep.equal({ outcome: 'unknown', idempotencyKeys: [sentKeys()[0]] })
          expect(new Set(sentKeys()).size).to.equal(1)
        }
        api.behaviour = 'breaks'
        const several = await failureOf(client.reportUsageBulk([usage, { ...usage, idempotencyKey: 'chosen' }]))
        expect(several!.usage!.idempotencyKeys).to.have.length(2).and.include('chosen')
        const event = { customerId: 'acme', eventName: 'call', idempotencyKey: 'event' }
        expect((await failureOf(client.reportEvents([event])))!.usage).to.deep.equal({ outcome: 'unknown', idempotencyKeys: ['event'] })
      })

      it('and does not know it when it is refused after an attempt that nobody answered', async () => {
        const client = await connect()
        api.next.push('breaks')
        api.behaviour = { code: 'FeatureNotFound', message: 'No feature api-calls' }
        const failure = await failureOf(client.reportUsage({ ...usage, idempotencyKey: 'chosen' }))
        expect(failure).to.include({ code: 'UNKNOWN' })
        expect(failure!.message).to.contain('No feature api-calls')
        expect(failure!.usage).to.deep.equal({ outcome: 'unknown', idempotencyKeys: ['chosen'] })
      })

      it('and says that nothing was counted when it is refused', async () => {
        const client = await connect()
        api.behaviour = { code: 'FeatureNotFound' }
        const failure = await failureOf(client.reportUsage(usage))
        expect(failure).to.include({ code: 'NOT_FOUND' })
        expect(failure!.usage).to.deep.include({ outcome: 'notCounted' })
      })
    })

    it('fails for a question that is none, whatever fallback there is', async () => {
      const client = await connect()
      const question = { customerId: '', featureId: 'sso', fallback: { hasAccess: true } }
      expect(await client.getBooleanEntitlement(question).catch((error: SidecarError) => error.code)).to.equal('INVALID_ARGUMENT')
    })

    it('answers the fallback of the call, else its own, else no access, when the sidecar is gone; and comes back', async () => {
      const entitlementsFallback = { 'api-calls': { hasAccess: true, usageLimit: 100 } }
      const client = await connect({ entitlementsFallback })
      await client.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })
      await remote.stop()
      const own = await client.getMeteredEntitlement({ customerId: 'acme', featureId: 'api-calls' })
      expect(own).to.deep.include({ hasAccess: true, isFallback: true, accessDeniedReason: null })
      expect(own.entitlement).to.include({ usageLimit: 100 })
      const ofCall = await client.getMeteredEntitlement({ customerId: 'acme', featureId: 'api-calls', fallback: { hasAccess: false } })
      expect(ofCall).to.deep.include({ hasAccess: false, isFallback: true, accessDeniedReason: 'UNKNOWN' })
      expect(await client.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })).to.deep.include({
        hasAccess: false,
        isFallback: true,
      })
      remote = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, PORT: String(remote.grpcPort) })
      const isBack = async () => !(await client.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })).isFallback
      await until(isBack, 'the sidecar is found again', 5_000)
    }).timeout(20_000)

    it('answers the fallback at its deadline when the sidecar hangs', async () => {
      const client = await connect({ timeoutMs: 150 })
      await client.ready(1_000)
      api.behaviour = 'hangs'
      const began = Date.now()
      const answer = await client.getBooleanEntitlement({ customerId: 'other', featureId: 'sso', fallback: { hasAccess: true } })
      expect(answer).to.deep.include({ hasAccess: true, isFallback: true })
      expect(Date.now() - began).to.be.below(400)
    })
  })

  describe('with a sidecar of its own', () => {
    it('starts one, waits until it is ready, and stops it', async () => {
      const client = await start()
      const { pid } = client
      expect(await client.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })).to.deep.include({
        hasAccess: true,
        isFallback: false,
      })
      await client.close()
      expect(isAlive(pid!)).to.equal(false)
    }).timeout(15_000)

    it('starts it again when it ends, under the same address', async () => {
      const client = await start({ entitlementsFallback: { sso: { hasAccess: true } } })
      const first = client.pid!
      process.kill(first, 'SIGKILL')
      await until(() => client.pid !== undefined && client.pid !== first, 'another one runs', 5_000)
      const isBack = async () => {
        const answer = await client.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })
        expect(answer.hasAccess).to.equal(true)
        return !answer.isFallback
      }
      await until(isBack, 'the new one answers', 8_000)
    }).timeout(20_000)

    it('fails at once when the configuration is refused', async () => {
      const began = Date.now()
      const error = await start({ apiConfig: { apiKey: 'k', apiUrl: 'ftp://nowhere' } }).catch((problem: unknown) => problem)
      expect(error).to.be.instanceOf(SidecarError).and.to.include({ code: 'FAILED_PRECONDITION' })
      expect(Date.now() - began).to.be.below(5_000)
    }).timeout(20_000)

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      it(`leaves no sidecar behind when its application ends by ${signal}`, async () => {
        const application: ChildProcess = spawn(process.execPath, [host, api.url, api.acceptedKey], { stdio: ['ignore', 'pipe', 'ignore'] })
        const [line] = (await once(application.stdout!, 'data')) as [Buffer]
        const pid = Number(String(line))
        expect(isAlive(pid)).to.equal(true)
        application.kill(signal)
        await once(application, 'exit')
        await until(() => !isAlive(pid), 'the sidecar has ended', 8_000)
      }).timeout(20_000)
    }

    it('cleans its folder up', async () => {
      const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('tollgate-sidecar-')).length
      const before = folders()
      const client = await start()
      expect(folders()).to.equal(before + 1)
      await client.close()
      expect(folders()).to.equal(before)
    }).timeout(15_000)
  })
})
