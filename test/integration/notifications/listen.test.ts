import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.js'
import { testSecretsKey } from '../../support/webhooks.js'
import { openWebhookBench, type WebhookBench } from './fixture.js'

const main = fileURLToPath(new URL('../../../src/local/admin/main.js', import.meta.url))

/** The command as somebody runs it. */
describe('the admin command webhook listen', function () {
  this.timeout(60_000)
  let bench: WebhookBench
  let environmentId: string
  let refId: string
  const running = new Set<ChildProcess>()

  before(async () => {
    bench = await openWebhookBench()
    await bench.startWorker()
  })
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    refId = (await bench.prisma.environment.findUniqueOrThrow({ where: { id: environmentId } })).refId
  })
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL')
    running.clear()
  })
  after(async () => {
    expect(await bench.closeAll()).to.deep.equal([])
  })

  function listen(args: string[], env: Record<string, string> = { SECRETS_KEY: testSecretsKey }) {
    const child = spawn(process.execPath, [main, 'webhook', 'listen', '--environment', refId, ...args], {
      cwd: '/',
      env: { PATH: process.env.PATH, DATABASE_URL: bench.databaseUrl, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    const said = { output: '', errors: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => (said.output += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (said.errors += text))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const url = () => eventually('it to listen', () => /at (http:\S+)/.exec(said.output)?.[1], 30_000)
    return { child, said, ended, url }
  }
  const endpoints = () => bench.webhooks.list(environmentId)

  it('prints what happens until it is stopped, and leaves no endpoint behind', async () => {
    const { child, said, ended, url } = listen([])
    await url()
    expect((await endpoints()).map(({ description }) => description)).to.deep.equal(['npm run admin -- webhook listen'])
    await bench.customers.create(environmentId, { refId: 'acme' })
    await eventually('the event to be printed', () => said.output.includes('customer.created'))
    expect(said.output).to.include('"customerId": "acme"')
    child.kill('SIGINT')
    expect(await ended, said.errors).to.equal(0)
    expect(said.output).to.include('Heard 1 events')
    expect(await endpoints()).to.deep.equal([])
    const entries = await bench.prisma.auditEntry.findMany({
      where: { environmentId, entityKind: 'WEBHOOK_ENDPOINT' },
      orderBy: { at: 'asc' },
    })
    expect(entries.map(({ actorKind, operation, before, after }) => [actorKind, operation, before === null, after === null])).to.deep.equal(
      [
        ['OPERATOR', 'admin webhook listen', true, false],
        ['OPERATOR', 'admin webhook listen', false, true],
      ],
    )
  })

  it('ends after as many as it is told, of the types that it is told, and takes nothing that is not signed', async () => {
    const { said, ended, url } = listen(['--events', 'customer.updated, customer.archived', '--count', '2'])
    const body = JSON.stringify({ id: 'forged', type: 'customer.updated' })
    const headers = { 'webhook-id': 'forged', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)), 'webhook-signature': 'v1,AAAA' }
    const forged = await fetch(await url(), { method: 'POST', body, headers })
    expect(forged.status).to.equal(400)
    await bench.customers.create(environmentId, { refId: 'acme' })
    await bench.customers.update(environmentId, 'acme', { timeZone: 'Asia/Tokyo' })
    await bench.customers.archive(environmentId, 'acme')
    expect(await ended, said.errors).to.equal(0)
    const types = [...said.output.matchAll(/"type": "(\w+\.\w+)"/g)].map(([, type]) => type)
    expect(types).to.deep.equal(['customer.updated', 'customer.archived'])
    expect(said.output).to.not.include('forged')
    expect(await endpoints()).to.deep.equal([])
  })

  const refused: [string, string[], Record<string, string> | undefined, number, RegExp][] = [
    ['a type that there is not', ['--events', 'customer.exploded'], undefined, 1, /no type of event/],
    ['no count', ['--count', 'many'], undefined, 2, /--count/],
    ['no SECRETS_KEY', [], {}, 1, /SECRETS_KEY/],
  ]
  for (const [what, args, env, code, message] of refused)
    it(`says what is wrong with ${what}, and makes nothing`, async () => {
      const { said, ended } = listen(args, env)
      expect(await ended, said.output).to.equal(code)
      expect(said.errors).to.match(message)
      expect(await endpoints()).to.deep.equal([])
    })
})
