import { expect } from 'chai'
import { type FrontDoor, openFrontDoor, operatorKey, post } from '../web/front-door.js'
import { run } from './command.js'

describe('tollgate environment and key', function () {
  this.timeout(60_000)
  let door: FrontDoor

  before(async () => {
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const tollgate = (...args: string[]) => run(args, { TOLLGATE_URL: door.url, OPERATOR_KEY: operatorKey })
  async function json(...args: string[]) {
    const { code, output, errors } = await tollgate(...args, '--json')
    expect(code, errors).to.equal(0)
    return JSON.parse(output)
  }
  const accepts = async (key: string) => (await run(['catalog', 'pull', '-'], { TOLLGATE_URL: door.url, TOLLGATE_API_KEY: key })).code === 0

  it('create an environment and list it with the id that configuration asks for', async () => {
    const created = await json('environment', 'create', 'berlin', '--name', 'Berlin office', '--test', '--persistent-cache')
    expect(created).to.include({ refId: 'berlin', displayName: 'Berlin office', isTest: true, hasPersistentCache: true })
    expect(created.allowsUnsignedClientReads).to.equal(false)
    expect(created.signingSecret).to.match(/^[0-9A-Za-z]{40}$/)
    const { id } = (await door.app.environments.find('berlin'))!
    expect(created.id).to.equal(id)
    const { output } = await tollgate('environment', 'list')
    expect(output).to.include(id).and.include(door.environmentId).and.include('persistent cache')
    expect(output).not.to.include(created.signingSecret)
    const { output: made } = await tollgate('environment', 'create', 'lisbon', '--unsigned-client-reads')
    expect(made.split('\n')[0]).to.equal(`Created environment "lisbon" (id ${(await door.app.environments.find('lisbon'))!.id})`)
    expect((await tollgate('environment', 'list')).output).to.match(/ lisbon +lisbon +unsigned client reads +20/)
    expect(await tollgate('environment', 'create', 'berlin')).to.include({ code: 1, errors: 'Environment "berlin" exists already.' })
  })

  it('switch the persistent cache of an environment on and off, through Redis or SQS', async () => {
    const queueUrl = 'https://sqs.eu-west-1.amazonaws.com/123456789012/porto'
    await tollgate('environment', 'create', 'porto')
    const { id } = (await door.app.environments.find('porto'))!
    expect((await tollgate('environment', 'enable-persistent-cache', 'porto')).output).to.include(`the queue environment-${id}`)
    const set = await json('environment', 'enable-persistent-cache', 'porto', '--queue-url', queueUrl)
    expect(set).to.include({ hasPersistentCache: true, persistentCacheQueueUrl: queueUrl })
    expect((await tollgate('environment', 'list')).output).to.include('persistent cache through SQS')
    const off = await json('environment', 'disable-persistent-cache', 'porto')
    expect(off).to.include({ hasPersistentCache: false, persistentCacheQueueUrl: null })
    expect((await tollgate('environment', 'enable-persistent-cache', 'porto', '--queue-url', 'http://q')).errors).to.include(
      'standard queue of SQS',
    )
    expect(await tollgate('environment', 'disable-persistent-cache', 'nowhere')).to.include({ code: 1 })
  })

  it('create, list, rotate and revoke keys, and print a key once only', async () => {
    await tollgate('environment', 'create', 'paris')
    const of = ['--environment', 'paris']
    const created = await json('key', 'create', ...of, '--name', 'backend', '--expires', '30d')
    expect(created).to.include({ kind: 'server', name: 'backend', status: 'valid', hint: created.key.slice(-4) })
    expect(Date.parse(created.expiresAt) - Date.parse(created.createdAt)).to.be.closeTo(30 * 86_400_000, 5_000)
    expect(await accepts(created.key)).to.equal(true)
    const client = await json('key', 'create', ...of, '--name', 'browser', '--kind', 'client')
    expect(client.key).to.match(/^client-/)

    const rotated = await json('key', 'rotate', created.id, '--overlap', '2h')
    expect(rotated.replaced).to.include({ id: created.id, status: 'valid' })
    expect([await accepts(created.key), await accepts(rotated.key)]).to.deep.equal([true, true])
    const again = await json('key', 'rotate', rotated.id, '--overlap', '0')
    expect(again.replaced.status).to.equal('expired')
    expect([await accepts(rotated.key), await accepts(again.key)]).to.deep.equal([false, true])
    expect((await tollgate('key', 'revoke', again.id)).output).to.equal(`Revoked server key "backend" …${again.hint}`)
    expect(await json('key', 'revoke', again.id)).to.include({ status: 'revoked' })
    expect(await accepts(again.key)).to.equal(false)

    const { output } = await tollgate('key', 'list', ...of)
    expect(output.split('\n')).to.have.length(5)
    for (const { key } of [created, client, rotated, again]) expect(output).not.to.include(key)
  })

  const refused: [string, string[], RegExp][] = [
    ['several environments and none named', ['key', 'list'], /^say which --environment; there are: test, /],
    ['an unknown environment', ['key', 'list', '--environment', 'rome'], /^Environment "rome" was not found/],
    ['a key that is not there', ['key', 'revoke', 'nonsense'], /^There is no API key with the id "nonsense"/],
    ['a missing name', ['key', 'create', '--environment', 'test'], /^--name is required/],
    ['an unknown kind', ['key', 'create', '--environment', 'test', '--name', 'x', '--kind', 'root'], /^--kind must be server or client/],
    [
      'an end in the past',
      ['key', 'create', '--environment', 'test', '--name', 'x', '--expires', '2001-01-01'],
      /expiresAt is in the past/,
    ],
    ['an unknown command', ['key', 'make'], /^there is no command "key make"/],
  ]
  for (const [what, args, message] of refused) {
    it(`refuse ${what}, with 1`, async () => {
      await door.app.environments.create({ refId: what })
      const before = await door.app.environments.listKeys('test')
      const { code, output, errors } = await tollgate(...args)
      expect([code, output]).to.deep.equal([1, ''])
      expect(errors).to.match(message)
      expect(await door.app.environments.listKeys('test')).to.deep.equal(before)
    })
  }

  it('need the operator key, and no other does', async () => {
    const wrong = await run(['environment', 'list'], { TOLLGATE_URL: door.url, OPERATOR_KEY: 'guessed' })
    expect(wrong.code).to.equal(1)
    expect(wrong.errors)
      .to.match(/does not accept the key of OPERATOR_KEY: The operator key is not valid/)
      .and.not.include('guessed')
    const none = await run(['environment', 'list'], { TOLLGATE_URL: door.url, TOLLGATE_API_KEY: door.serverKey })
    expect(none.errors).to.match(/^OPERATOR_KEY is not set/)
    const served = { 'x-api-key': door.serverKey }
    for (const headers of [served, { ...served, 'x-operator-key': 'guessed' }]) {
      const { data, errors } = await door.ask('{ environments { id } }', {}, headers)
      expect([data ?? null, errors?.[0]?.extensions.code]).to.deep.equal([null, 'IdentityForbidden'])
    }
    const both = { 'x-api-key': door.serverKey, 'x-operator-key': operatorKey }
    expect((await door.ask('{ environments { id } }', {}, both)).errors).to.equal(undefined)
  })

  it('are all that the operator key alone is for', async () => {
    const operator = { 'x-operator-key': operatorKey }
    for (const query of ['{ catalog }', '{ customers { totalCount } }', 'mutation { archiveCustomer(input: {customerId: "a"}) { id } }'])
      expect((await door.ask(query, {}, operator)).errors?.[0]?.extensions.code, query).to.equal('IdentityForbidden')
    expect((await door.ask('{ __schema { queryType { name } } }', {}, operator)).errors?.[0]?.extensions.code).to.equal('IdentityForbidden')
    const answers = (await (
      await post(door.url, [{ query: '{ environments { refId } }' }, { query: '{ catalog }' }], operator)
    ).json()) as {
      errors?: unknown
    }[]
    expect(answers.map(({ errors }) => errors === undefined)).to.deep.equal([true, false])
  })
})
