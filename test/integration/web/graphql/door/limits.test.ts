import { expect } from 'chai'
import pg from 'pg'
import { eventually } from '../../../../support/eventually.js'
import { type FrontDoor, type GraphqlBody, openFrontDoor, post } from '../../front-door.js'

describe('limits of the front door', () => {
  let door: FrontDoor
  let database: pg.Client
  /** Another one: within a transaction PostgreSQL goes on showing the activity that was seen first. */
  let observer: pg.Client

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor({ limits: { perKey: 200, perCustomer: 5, operationTimeoutMs: 1_200 } })
    database = new pg.Client({ connectionString: door.databaseUrl })
    observer = new pg.Client({ connectionString: door.databaseUrl })
    await Promise.all([database.connect(), observer.connect()])
  })
  afterEach(() => database.query('ROLLBACK'))
  after(async () => {
    await Promise.all([database.end(), observer.end()])
    expect(await door.close()).to.deep.equal([])
  })

  const codes = ({ errors }: Pick<GraphqlBody, 'errors'>) => errors?.map(({ extensions }) => extensions.code)
  const customer = 'query($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { id } }'
  const provision = 'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }'
  /** Statements of the front door that are being executed. */
  const running = async () => {
    const { rows } = await observer.query(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tollgate web' AND state <> 'idle'`,
    )
    return rows.map(({ query }) => query as string)
  }

  describe('of time', () => {
    it('end a query, and its SQL too', async () => {
      await database.query('BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE')
      const answer = await door.ask(customer, { input: { customerId: 'a' } })
      expect(codes(answer)).to.deep.equal(['Timeout'])
      await eventually('the statement to be canceled', async () => (await running()).length === 0, 2_000)
    })

    it('end a mutation, which then has changed nothing', async () => {
      await database.query('BEGIN; LOCK TABLE customer_state IN ACCESS EXCLUSIVE MODE')
      const answer = await door.ask(provision, { input: { customerId: 'late' } })
      expect(codes(answer)).to.deep.equal(['Timeout'])
      await eventually('the transaction to be rolled back', async () => (await running()).length === 0, 2_000)
      await database.query('COMMIT')
      expect((await database.query(`SELECT FROM customer WHERE ref_id = 'late'`)).rowCount).to.equal(0)
    })

    it('leave everybody else alone, also on the same connections', async () => {
      await database.query('BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE')
      const late = await Promise.all(Array.from({ length: 12 }, (_, n) => door.ask(customer, { input: { customerId: `c${n}` } })))
      expect(late.flatMap(codes)).to.deep.equal(Array(12).fill('Timeout'))
      await database.query('COMMIT')
      const fine = await Promise.all(Array.from({ length: 12 }, (_, n) => door.ask(customer, { input: { customerId: `c${n}` } })))
      expect(fine.map(({ errors }) => errors)).to.deep.equal(Array(12).fill(undefined))
    })

    it('end the SQL of a query whose client hangs up', async () => {
      await database.query('BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE')
      const client = new AbortController()
      const headers = { 'content-type': 'application/json', 'x-api-key': door.serverKey }
      const body = JSON.stringify({ query: customer, variables: { input: { customerId: 'a' } } })
      const asked = fetch(`${door.url}/graphql`, { method: 'POST', headers, body, signal: client.signal }).catch(() => 'hung up')
      await eventually('the statement to wait', async () => (await running()).length > 0, 2_000)
      client.abort()
      expect(await asked).to.equal('hung up')
      await eventually('the statement to be canceled', async () => (await running()).length === 0, 300)
    })
  })

  describe('of rate', () => {
    it('are counted for a customer with its token', async () => {
      const headers = { 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken('eager') }
      const query = '{ sdkConfiguration { showWatermark } }'
      const answers = await Promise.all(Array.from({ length: 8 }, () => door.ask(query, {}, headers)))
      expect(answers.flatMap((answer) => codes(answer) ?? [])).to.include('RateLimitExceeded')
      expect(answers.filter(({ data }) => data)).to.have.length.within(5, 7)
      const other = { ...headers, 'x-customer-key': door.customerToken('patient') }
      expect((await door.ask(query, {}, other)).errors).to.equal(undefined)
    })

    it('are counted for a key, each operation of a list', async () => {
      await eventually('a new second', async () => codes(await door.ask('{ __typename }')) === undefined, 2_000)
      const operations = Array.from({ length: 25 }, () => ({ query: '{ __typename }' }))
      // A slow machine may take more than a second for them.
      const refused = await eventually('operations to be refused', async () => {
        const lists = await Promise.all(Array.from({ length: 20 }, () => post(door.url, operations, { 'x-api-key': door.serverKey })))
        const answers = (await Promise.all(lists.map((response) => response.json()))).flat() as GraphqlBody[]
        const those = answers.filter((answer) => codes(answer)?.[0] === 'RateLimitExceeded')
        return those.length > 0 ? those : null
      })
      const [error] = refused.flatMap(({ errors }) => errors ?? [])
      expect(error!.extensions.retryAfterMs).to.be.within(1, 1_000)
      await eventually('the next second', async () => codes(await door.ask('{ __typename }')) === undefined, 2_000)
    })
  })

  describe('of rate by address', () => {
    let small: FrontDoor
    before(async function () {
      this.timeout(20_000)
      small = await openFrontDoor({ limits: { perAddress: 20 } })
    })
    after(async () => expect(await small.close()).to.deep.equal([]))

    it('are counted for an address, whatever the keys', async () => {
      const keys = [small.serverKey, small.clientKey]
      const query = '{ sdkConfiguration { showWatermark } }'
      const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => small.ask(query, {}, { 'x-api-key': keys[n % 2]! })))
      expect(answers.filter((answer) => codes(answer)?.[0] === 'RateLimitExceeded')).to.have.length.above(0)
      // Pages have a rate of their own.
      expect((await fetch(`${small.url}/docs`)).status).to.equal(200)
    })
  })

  describe('of size', () => {
    const refusal = async (query: string, variables?: object) => (await door.ask(query, variables)).errors?.[0]?.message

    it('are told by name', async () => {
      expect(await refusal(`{ ${Array.from({ length: 101 }, (_, n) => `a${n}: __typename`).join(' ')} }`)).to.include('101 aliases')
      expect(await refusal(`{ ${'__typename @include(if: true) '.repeat(51)} }`)).to.match(/51 directives|more than 50 times/)
      expect(await refusal(`{ ${'__typename '.repeat(51)} }`)).to.include('more than 50 times')
    })

    it('bound the lists of variables', async () => {
      const query = 'query($input: GetActiveSubscriptionsInput!) { getActiveSubscriptions(input: $input) { id } }'
      const resourceIds = Array.from({ length: 1_001 }, (_, n) => `resource-${n}`)
      expect(await refusal(query, { input: { customerId: 'a', resourceIds } })).to.equal(
        '"input.resourceIds" has 1001 items: at most 1000 are taken, send several smaller requests.',
      )
    })
  })
})
