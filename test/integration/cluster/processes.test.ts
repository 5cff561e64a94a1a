import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import type { SidecarClient } from '../../../src/local/demo/clients.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { withAccess } from '../../../src/platform/redis/address.js'
import { queuePrefix } from '../../../src/platform/redis/slots.js'
import { openRedis } from '../../../src/platform/redis.js'
import { createClient, type TollgateClient } from '../../../src/sdk/server/index.js'
import { silentLog } from '../../../src/sdk/server/options.js'
import { Guard } from '../../support/guarded-redis.js'
import { OwnCluster } from '../../support/own-cluster.js'
import { OwnProcesses } from '../../support/own-processes.js'
import { Load, type Told } from './load.js'

const admin = fileURLToPath(new URL('../../../src/local/admin/main.js', import.meta.url))
const environmentPrefix = '{production}'

/** Each process of the Procfile, the doors twice, and an application with the server SDK; the sidecars and the SDK have one external cache between them. */
describe('all processes on a Redis Cluster that is encrypted and asks for a password', function () {
  this.timeout(180_000)

  const guard = new Guard()
  const cluster = new OwnCluster(guard)
  let own: OwnProcesses
  let load: Load | undefined
  let sdk: TollgateClient
  let told: Record<string, (customerId: string) => Promise<Told>>

  before(async () => {
    await guard.prepare()
    await cluster.start()
  })
  afterEach(async function () {
    await load?.stop()
    own?.showComplaints(this.currentTest)
  })
  after(async () => {
    await sdk?.close()
    await own?.close()
    await cluster.stop()
    guard.close()
  })

  it('is used by nobody who does not know its authority, or with another password', async () => {
    const failure = async (url: string): Promise<string> => {
      const life = new Life('stranger', silentLogger())
      try {
        return await new Promise((told) => {
          const warn = (facts: object) => told((facts as { err: Error }).err.message)
          openRedis({ open: life.open.bind(life), log: { ...silentLog, warn } }, url, 'request')
        })
      } finally {
        await life.stop()
      }
    }
    expect(await failure(cluster.url)).to.match(/certificate/)
    guard.trust()
    expect(await failure(withAccess(cluster.url, guard.user, 'guessed'))).to.match(/WRONGPASS/)
  })

  it('counts a report, and all the others say so', async () => {
    const env = { NODE_EXTRA_CA_CERTS: guard.certificateFile, DATABASE_POOL_SIZE: '4' }
    const servers = { redisUrl: cluster.url, hasPersistentCache: true, copies: ['web-2', 'sidecar-2'] }
    own = await OwnProcesses.create(Load.catalog, env, servers)
    const ofCache = { host: `redis+cluster://${cluster.hosts}`, username: guard.user, password: guard.password }
    const { host: REDIS_HOST, username: REDIS_USERNAME, password: REDIS_PASSWORD } = ofCache
    const external = { REDIS_ENVIRONMENT_PREFIX: environmentPrefix, REDIS_HOST, REDIS_USERNAME, REDIS_PASSWORD, REDIS_TLS: 'TRUE' }
    await Promise.all([own.start([...own.names, 'web-2']), own.start(['sidecar-2'], { env: external })])
    sdk = await createClient({ apiKey: own.api.apiKey, apiUrl: own.urlOf('web-2'), redis: { ...ofCache, environmentPrefix, tls: true } })
    told = {
      'the sidecar that changes are pushed to': (customerId) => bySidecar(own.sidecar, customerId),
      'the sidecar with the external cache': (customerId) => bySidecar(sidecar2, customerId),
      'the server SDK with the external cache': bySdk,
    }
    const sidecar2 = own.sidecarOf('sidecar-2')

    load = new Load(own, { customers: 2, name: 'first', readers: [own.apiOf('web-2')] })
    await load.begin()
    await load.end()
    await load.expectAllTrue()
    for (const [who, ask] of Object.entries(told)) await load.expectTold(who, ask)
  })

  it('loses nothing while a master is killed, and all say what is true afterwards', async () => {
    load = new Load(own, { customers: 4, name: 'load', readers: [own.api, own.apiOf('web-2')] })
    await load.begin()
    await cluster.killMaster(await cluster.masterOf(`${queuePrefix(own.queues.prefix, 'usage-ingestion')}:`))
    await load.goesOn()
    await load.end()
    await load.expectAllTrue()
    for (const [who, ask] of Object.entries(told)) await load.expectTold(who, ask)
    // then: the caches are the truth, also where nobody has asked
    expect(await verifyCache()).to.deep.include({ code: 0, differing: [] })
  })

  const bySdk = async (customerId: string): Promise<Told> => {
    const calls = await sdk.getMeteredEntitlement({ customerId, featureId: 'calls' })
    const sso = await sdk.getBooleanEntitlement({ customerId, featureId: 'sso' })
    return { currentUsage: calls.entitlement?.currentUsage ?? Number.NaN, isGranted: sso.hasAccess }
  }

  async function bySidecar(sidecar: SidecarClient, customer_id: string): Promise<Told> {
    const calls = await sidecar.call<{ entitlement: { current_usage: number } | null }>('GetMeteredEntitlement', {
      customer_id,
      feature_id: 'calls',
    })
    const sso = await sidecar.call<{ has_access: boolean }>('GetBooleanEntitlement', { customer_id, feature_id: 'sso' })
    return { currentUsage: calls.entitlement?.current_usage ?? Number.NaN, isGranted: sso.has_access }
  }

  function verifyCache(): Promise<{ code: number; compared: number; differing: unknown[] }> {
    const args = ['cache', 'verify', '--environment', 'own', '--cache-url', cluster.url, '--cache-prefix', environmentPrefix, '--json']
    const env = { PATH: process.env.PATH, DATABASE_URL: own.database.url, NODE_EXTRA_CA_CERTS: guard.certificateFile }
    return new Promise((resolve, reject) =>
      execFile(process.execPath, [admin, ...args], { env }, (error, stdout, stderr) =>
        stdout === '' ? reject(new Error(stderr)) : resolve({ code: error ? Number(error.code) : 0, ...JSON.parse(stdout) }),
      ),
    )
  }
})
