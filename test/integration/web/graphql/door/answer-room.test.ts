import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { maxAnswerBytes } from '../../../../../src/web/graphql/operations/answer-text.js'
import { eventually } from '../../../../support/eventually.js'
import { type FrontDoor, openFrontDoor, post } from '../../front-door.js'

const customers = 50
const metadataBytes = 40_000

describe('the room for answers', () => {
  let door: FrontDoor
  const sockets: Socket[] = []

  before(async () => {
    door = await openFrontDoor()
    for (let n = 0; n < customers; n++) {
      const input = { customerId: `customer-${n}`, additionalMetaData: { note: `${n} ${'x'.repeat(metadataBytes)}` } }
      const { errors } = await door.ask(
        'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }',
        { input },
      )
      expect(errors ?? []).to.deep.equal([])
    }
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  /** 2 MB for each page. */
  const pages = (count: number) =>
    `{ ${Array.from({ length: count }, (_, n) => `page${n}: customers(paging: { first: ${customers} }) { edges { node { customerId additionalMetaData } } }`).join(' ')} }`
  const key = () => ({ 'x-api-key': door.serverKey })
  const kept = async (what: string) =>
    Number(new RegExp(`tollgate_kept_bytes\\{what="${what}"\\S* (\\d+)`).exec(await door.life.metrics.metrics())?.[1] ?? 0)

  it('is enough for some MB, which others do not wait for', async () => {
    const body = await door.ask<Record<string, { edges: { node: { additionalMetaData: { note: string } } }[] }>>(pages(3))
    expect(body.errors).to.equal(undefined)
    for (const page of Object.values(body.data!)) {
      expect(page.edges).to.have.length(customers)
      expect(page.edges[0]!.node.additionalMetaData.note).to.have.length.above(metadataBytes)
    }
  })

  it('is refused beyond, with what to do', async () => {
    for (const count of [5, 40]) {
      const { data, errors } = await door.ask(pages(count))
      expect(data).to.equal(undefined)
      expect(errors).to.have.length(1)
      expect(errors![0]!.message).to.match(/larger than 8388608 bytes: ask for shorter pages/)
      expect(errors![0]!.extensions).to.include({ code: 'BadUserInput', limit: maxAnswerBytes })
    }
  })

  it('is the same in every media type', async () => {
    const headers = { ...key(), accept: 'application/graphql-response+json' }
    const fits = await post(door.url, { query: pages(2) }, headers)
    expect(fits.status).to.equal(200)
    expect(Object.keys(((await fits.json()) as { data: object }).data)).to.deep.equal(['page0', 'page1'])
    const refused = await post(door.url, { query: pages(20) }, headers)
    expect(await refused.text()).to.match(/larger than 8388608 bytes/)
  })

  it('is shared by the operations of a list', async () => {
    const list = (count: number) => Array.from({ length: count }, () => ({ query: pages(1) }))
    const answers = async (count: number) =>
      (await (await post(door.url, list(count), key())).json()) as { data?: object; errors?: { message: string }[] }[]
    expect((await answers(3)).map(({ errors }) => errors)).to.deep.equal([undefined, undefined, undefined])
    const many = await answers(20)
    expect(many.filter(({ data }) => data)).to.have.length.at.most(4)
    expect(many.flatMap(({ errors = [] }) => errors.map(({ message }) => message)).every((message) => /larger/.test(message))).to.equal(
      true,
    )
  })

  it('refuses more large ones to an environment that does not read them', async function () {
    this.timeout(60_000)
    const query = JSON.stringify({ query: pages(3) })
    const request = `POST /graphql HTTP/1.1\r\nhost: x\r\nx-api-key: ${door.serverKey}\r\ncontent-type: application/json\r\ncontent-length: ${query.length}\r\n\r\n${query}`
    const { port } = new URL(door.url)
    const askLarge = async () => {
      const answer = await post(door.url, { query: pages(3) }, key())
      return { status: answer.status, text: await answer.text() }
    }
    // The system takes some MB of each connection.
    for (let n = 0; n < 20; n++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
      sockets.push(socket.pause())
      socket.write(request.repeat(3))
    }
    const refused = await eventually('it is refused', async () => {
      const answer = await askLarge()
      return answer.status === 503 ? answer : null
    })
    expect(refused.text).to.match(/wait for their readers/)
    expect(await kept('unread answers')).to.be.below(17 * 2 ** 20)
    // Short ones are given all the same.
    expect((await door.ask('{ __typename }')).errors).to.equal(undefined)
    for (const socket of sockets.splice(0)) socket.destroy()
    await eventually('they are given up', async () => (await kept('unread answers')) === 0)
    expect((await askLarge()).status).to.equal(200)
  })

  it('of answers that are kept is counted with the state', async () => {
    const query = 'query ($q: FetchEntitlementsQuery!) { cachedEntitlements(query: $q) { isGranted feature { refId } } }'
    const variables = { q: { customerId: 'customer-1' } }
    await door.ask(query, variables)
    await eventually('the state is held', async () => {
      await door.ask(query, variables)
      return (await kept('held states')) > 0
    })
    await door.ask(query, variables)
    const before = await kept('held states')
    for (let n = 0; n < 20; n++) await door.ask(`${query} # ${n} ${'x'.repeat(1_000)}`, variables)
    // Each request has its text, and so has each answer.
    expect((await kept('held states')) - before).to.be.within(20 * 1_100, 20 * 3_000)
    expect(await kept('documents')).to.be.above(20 * 1_000)
  })
})
