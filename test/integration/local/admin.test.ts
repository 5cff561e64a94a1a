import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { parse } from 'yaml'
import { runAdmin } from '../../../src/local/admin/command-line.js'
import { Feed } from '../../../src/updates/external-cache/feed.js'
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js'
import { boolean, message, state } from '../../contract/cache/held.js'
import { createTestDatabase, requiredVariable, type TestDatabase } from '../../support/database.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

describe('the admin commands', () => {
  let database: TestDatabase
  let folder: string

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-admin-'))
  })
  after(() => rmSync(folder, { recursive: true }))
  beforeEach(async () => {
    database = await createTestDatabase()
  })
  afterEach(() => database.drop())

  async function admin(args: string[], databaseUrl: string | null = database.url) {
    const [output, errors]: [string[], string[]] = [[], []]
    const code = await runAdmin({ args, databaseUrl, folder, print: (text) => output.push(text), printError: (text) => errors.push(text) })
    return { code, output: output.join('\n'), errors: errors.join('\n') }
  }
  async function query(text: string) {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }
  async function adminJson(...args: string[]) {
    const { code, output, errors } = await admin([...args, '--json'])
    expect(code, errors).to.equal(0)
    return JSON.parse(output)
  }

  it('create an environment and keys, rotate and revoke them, and print a key once only', async () => {
    const environment = await adminJson('environment', 'create', 'production', '--name', 'Production', '--persistent-cache')
    expect(environment).to.include({ refId: 'production', displayName: 'Production', isTest: false, hasPersistentCache: true })
    expect(environment.signingSecret).to.match(/^[0-9A-Za-z]{40}$/)

    const created = await adminJson('key', 'create', '--name', 'backend', '--expires', '90d')
    expect(created).to.include({ kind: 'server', name: 'backend', status: 'valid', hint: created.key.slice(-4) })
    expect(Date.parse(created.expiresAt) - Date.parse(created.createdAt)).to.be.closeTo(90 * 86_400_000, 5_000)
    const rotated = await adminJson('key', 'rotate', created.id, '--overlap', '1h')
    expect(rotated.replaced).to.include({ id: created.id, status: 'valid' })
    expect(await adminJson('key', 'revoke', created.id)).to.include({ id: created.id, status: 'revoked' })

    const { output } = await admin(['key', 'list'])
    expect(output.split('\n')).to.have.length(3)
    expect(output)
      .to.match(/revoked/)
      .and.match(/valid/)
    const listed = `${output}${JSON.stringify(await adminJson('key', 'list'))}${JSON.stringify(await adminJson('environment', 'list'))}`
    for (const secret of [created.key, rotated.key, environment.signingSecret]) expect(listed).not.to.include(secret)
    expect((await admin(['environment', 'list'])).output).to.include(environment.id)
    const { signingSecret } = await adminJson('signing-secret', 'rotate', '--environment', 'production')
    expect(signingSecret).not.to.equal(environment.signingSecret)
  })

  it('switch the persistent cache of an environment on and off', async () => {
    const queueUrl = 'https://sqs.eu-west-1.amazonaws.com/123456789012/porto'
    await adminJson('environment', 'create', 'porto')
    const set = await adminJson('environment', 'enable-persistent-cache', 'porto', '--queue-url', queueUrl)
    expect(set).to.include({ hasPersistentCache: true, persistentCacheQueueUrl: queueUrl })
    expect((await admin(['environment', 'enable-persistent-cache', 'porto'])).output).to.include(`the queue environment-${set.id}`)
    expect((await admin(['environment', 'disable-persistent-cache', 'porto'])).output).to.include('no queue any more')
    expect((await adminJson('environment', 'list'))[0]).to.include({ hasPersistentCache: false, persistentCacheQueueUrl: null })
  })

  it('compare a persistent cache with the truth, print what differs, and mend it when they are asked to', async () => {
    const redis = new Redis(testRedisUrl())
    const prefix = testRedisPrefix()
    try {
      await adminJson('environment', 'create', 'lisbon')
      const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
      for (let n = 0; n < 5; n++) await cache.writeState(state(9_000, [boolean('never-sold')], { customerId: `made-up-${n}` }))
      await cache.writeState(state(9_000, [], { customerId: 'gone', deniedReason: 'CustomerNotFound' }))
      const verify = (...more: string[]) => admin(['cache', 'verify', '--cache-url', testRedisUrl(), '--cache-prefix', prefix, ...more])
      const found = await verify()
      expect(found.code, found.errors).to.equal(1)
      expect(found.output).to.include('made-up-3\n  never-sold is not held any more').and.include('6 entries compared: 5 differ')
      expect(JSON.parse((await verify('--sample', '2', '--json')).output).compared).to.equal(2)
      const mended = await verify('--mend')
      expect([mended.code, mended.output.split('\n').at(-1)]).to.deep.equal([0, '6 entries compared: 5 differ, 5 mended'])
      expect(await verify()).to.include({ code: 0, output: '6 entries compared: no difference' })
      // Not the platform's: it has told nothing yet.
      await new Feed({ redis, prefix }).settle({
        v: 1,
        id: 'm',
        environmentId: 'e',
        kind: 'reload',
        epoch: Date.now() + 1_000_000_000,
        timestamp: 0,
      })
      const deaf = await verify()
      expect(deaf).to.include({ code: 1 }).and.have.property('output').that.includes('has heard of messages that the platform has not sent')
      expect((await verify('--mend')).code).to.equal(0)
      expect(await redis.keys(`${prefix}:feed*`)).to.deep.equal([])
      expect(await verify()).to.include({ code: 0, output: '6 entries compared: no difference' })
      // What it has told is none, up to its last number.
      await query(
        "INSERT INTO environment_feed (environment_id, epoch, vouched_by, is_told, sequence) SELECT id, 1000, 'test', true, 5 FROM environment",
      )
      const told = (sequence: number) => ({ ...message('usage', 1), epoch: 1_000, sequence })
      const feed = new Feed({ redis, prefix })
      await feed.settle(told(5))
      expect(await verify()).to.include({ code: 0 })
      await feed.settle(told(6))
      expect(await verify()).to.include({ code: 1 })
      for (const wrong of [
        ['--cache-url', 'nowhere'],
        ['--sample', 'some'],
      ])
        expect((await verify(...wrong)).code, wrong.join(' ')).to.equal(2)
    } finally {
      const keys = await redis.keys(`${prefix}:*`)
      if (keys.length > 0) await redis.del(keys)
      redis.disconnect()
    }
  }).timeout(30_000)

  it('tell the id of an environment where it is made and where all are listed, and what an environment is made with', async () => {
    const { output: made } = await admin(['environment', 'create', 'staging', '--test', '--unsigned-client-reads'])
    await admin(['environment', 'create', 'production', '--name', 'Production', '--persistent-cache'])
    const all = await adminJson('environment', 'list')
    const idOf = (refId: string) => all.find((one: { refId: string }) => one.refId === refId).id
    expect(made.split('\n')[0]).to.equal(`Created environment "staging" (id ${idOf('staging')})`)
    const { output } = await admin(['environment', 'list'])
    const lineOf = (refId: string) => output.split('\n').find((line) => line.includes(` ${refId} `))
    expect(lineOf('staging')).to.match(new RegExp(`^${idOf('staging')} +staging +staging +test, unsigned client reads +20`))
    expect(lineOf('production')).to.match(new RegExp(`^${idOf('production')} +production +Production +persistent cache +20`))
  })

  it('apply a catalog from a file, show what would change, and export what is in force', async () => {
    await admin(['environment', 'create', 'production'])
    const write = (units: string) =>
      writeFileSync(join(folder, 'catalog.yaml'), `features:\n  - { refId: calls, type: NUMBER, meter: Incremental, units: ${units} }\n`)
    write('call')
    expect(await adminJson('catalog', 'apply', 'catalog.yaml', '--dry-run')).to.deep.equal({
      dryRun: true,
      changes: [{ kind: 'feature', refId: 'calls', action: 'create', fields: [] }],
    })
    expect(Object.keys(await adminJson('catalog', 'export'))).to.deep.equal(['version'])
    expect((await admin(['catalog', 'apply', 'catalog.yaml'])).output).to.equal('Changed:\n  create feature calls')
    write('request')
    expect((await admin(['catalog', 'apply', 'catalog.yaml'])).output).to.include('update feature calls\n      units: "call" → "request"')
    expect((await admin(['catalog', 'apply', 'catalog.yaml'])).output).to.equal('Nothing to change')
    const { output } = await admin(['catalog', 'export'])
    expect(parse(output).features).to.deep.equal([await adminJson('catalog', 'export').then(({ features }) => features[0])])
  })

  it('print every problem of a refused catalog with its place and end with 1', async () => {
    await admin(['environment', 'create', 'production'])
    writeFileSync(join(folder, 'wrong.yaml'), 'plans: [{ refId: basic, prodct: cloud }]\n')
    const { code, output, errors } = await admin(['catalog', 'apply', 'wrong.yaml'])
    expect([code, output]).to.deep.equal([1, ''])
    expect(errors).to.include('plans[0].prodct').and.include("did you mean 'product'").and.include('plans[0].product is required')
    const asJson = JSON.parse((await admin(['catalog', 'apply', 'wrong.yaml', '--json'])).errors)
    expect(asJson.error.reason).to.equal('BAD_USER_INPUT')
    expect(asJson.error.details.problems).to.have.length(2)
  })

  it('ask which environment is meant when there are several, and name those there are', async () => {
    expect(await admin(['key', 'list'])).to.deep.include({
      code: 2,
      errors: 'say which --environment; there is none yet (environment create)',
    })
    await admin(['environment', 'create', 'one'])
    await admin(['environment', 'create', 'two'])
    expect((await admin(['key', 'list'])).errors).to.equal('say which --environment; there are: one, two')
    expect((await admin(['key', 'list', '--environment', 'three'])).errors).to.equal('there is no environment "three"; there are: one, two')
    expect((await admin(['key', 'list', '--environment', 'two'])).code).to.equal(0)
  })

  const wrong: [string, string[], RegExp][] = [
    ['an unknown command', ['key', 'make'], /no command "key make"/],
    ['an unknown option', ['key', 'create', '--nam', 'x'], /Unknown option '--nam'/],
    ['a missing argument', ['key', 'rotate'], /<key id> is missing/],
    ['an argument too many', ['key', 'list', 'all'], /"all" is one argument too many/],
    ['a missing name', ['key', 'create', '--kind', 'server'], /--name is required/],
    ['an unknown kind', ['key', 'create', '--name', 'x', '--kind', 'admin'], /--kind must be server or client/],
    ['a file that is not there', ['catalog', 'apply', 'nothing.yaml'], /nothing\.yaml cannot be read/],
  ]
  for (const [what, args, message] of wrong) {
    it(`end with 2 and change nothing when given ${what}`, async () => {
      await admin(['environment', 'create', 'production'])
      const { code, output, errors } = await admin(args)
      expect([code, output]).to.deep.equal([2, ''])
      expect(errors).to.match(message)
      const { version: _, ...sections } = await adminJson('catalog', 'export')
      expect([await adminJson('key', 'list'), sections]).to.deep.equal([[], {}])
    })
  }

  it('explain themselves without a database', async () => {
    for (const args of [[], ['--help'], ['help'], ['key', 'create', '--help'], ['catalog', 'apply', '-h']]) {
      const { code, output } = await admin(args, null)
      expect(code).to.equal(0)
      expect(output).to.include('Usage: npm run -s admin --')
    }
    expect(await admin(['key', 'list'], null)).to.include({ code: 2 })
  })

  it('say in a sentence that a database does not answer or was never set up', async () => {
    const away = await admin(['environment', 'list'], 'postgresql://nobody:hidden@127.0.0.1:1/tollgate')
    expect(away.code).to.equal(1)
    expect(away.errors).to.include('no PostgreSQL answers at 127.0.0.1:1').and.not.include('hidden')
    const empty = await admin(['environment', 'list'], requiredVariable('TEST_DATABASE_URL'))
    expect(empty.code).to.equal(1)
    expect(empty.errors).to.match(/^the database lacks all migrations: run `npm run release`/)
  })

  it('refuse what the platform refuses, with 1', async () => {
    await admin(['environment', 'create', 'production'])
    expect(await admin(['environment', 'create', 'production'])).to.include({ code: 1, errors: 'Environment "production" exists already.' })
    expect(await admin(['key', 'revoke', 'nonsense'])).to.include({ code: 1, errors: 'There is no API key with the id "nonsense".' })
  })
})
