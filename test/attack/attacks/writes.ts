/** What a server key of one tenant writes, and what another site has an operator's browser write. */
import type { Attack } from '../attack.js'

const applyQuery = 'mutation ($input: JSON!) { applyCatalog(input: $input, dryRun: true) { refId } }'

const suggestions: Attack = {
  name: 'suggestions',
  about: 'a server key: a catalog of 200 names of 250 characters and 200 references to none of them, tried',
  run: async (attacker) => {
    const name = (n: number, end: string) => `${'feature-name-'.repeat(20).slice(0, 240)}${n}${end}`.slice(0, 250)
    const numbers = Array.from({ length: 200 }, (_, n) => n)
    const input = {
      features: numbers.map((n) => ({ refId: name(n, 'a'), type: 'BOOLEAN' })),
      products: [{ refId: 'p' }],
      plans: [{ refId: 'plan', product: 'p', entitlements: numbers.map((n) => ({ feature: name(n, 'b') })) }],
    }
    const body = JSON.stringify({ query: applyQuery, variables: { input } })
    await attacker.repeat(2, () => attacker.graphql(body))
  },
}

const yamlBombs: Attack = {
  name: 'yaml-bombs',
  about: 'a server key: catalogs whose aliases stand for a billion items, and that nest 50,000 levels deep, tried',
  run: async (attacker) => {
    let bomb = 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n'
    for (let level = 1; level < 10; level++)
      bomb += `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]\n`
    const deep = `features: ${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const wide = `features: {${Array.from({ length: 40_000 }, (_, n) => `k${n}: v`).join(', ')}}`
    const bodies = [`${bomb}features: *a9`, deep, wide].map((input) => JSON.stringify({ query: applyQuery, variables: { input } }))
    await attacker.repeat(2, (n) => attacker.graphql(bodies[n % bodies.length]!))
  },
}

const largeCatalogs: Attack = {
  name: 'large-catalogs',
  about:
    'a server key: two catalogs of 700 kB in turn, of a hundred plans with 200 entitlements, each of which changes all of them, and then read',
  run: async (attacker) => {
    const features = Array.from({ length: 200 }, (_, n) => ({ refId: `large-${n}`, type: 'NUMBER', meter: 'Fluctuating' }))
    const plans = (limit: number) =>
      Array.from({ length: 100 }, (_, n) => ({
        refId: `large-${n}`,
        product: 'large',
        entitlements: features.map(({ refId }) => ({ feature: refId, limit })),
      }))
    const query = 'mutation ($input: JSON!) { applyCatalog(input: $input) { refId action fields { path from to } } }'
    const bodies = [1, 2].map((limit) =>
      JSON.stringify({ query, variables: { input: { features, products: [{ refId: 'large' }], plans: plans(limit) } } }),
    )
    await attacker.repeat(2, async (n, caller) => {
      const address = attacker.address(caller)
      await attacker.graphql(bodies[n % bodies.length]!, { address })
      await attacker.graphql({ query: '{ catalog }' }, { address })
    })
  },
}

const reportEvents = 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }'

const largeEvents: Attack = {
  name: 'large-events',
  about: 'a server key: 115 calls of five events of 990 kB',
  run: (attacker) =>
    attacker.repeat(
      8,
      (n, caller) => {
        const usageEvents = Array.from({ length: 5 }, (_, k) => ({
          customerId: attacker.target.customerId,
          eventName: 'used',
          idempotencyKey: `${n}-${k}`,
          dimensions: { text: 'd'.repeat(990_000) },
        }))
        return attacker.graphql({ query: reportEvents, variables: { events: { usageEvents } } }, { address: attacker.address(caller) })
      },
      115,
    ),
}

const fullCalls: Attack = {
  name: 'full-calls',
  about: 'a server key: 30 calls of 1,000 events and 30 of 1,000 reports at once',
  run: async (attacker) => {
    const { customerId, featureId } = attacker.target
    const items = Array.from({ length: 1_000 }, (_, k) => k)
    const events = (n: number) =>
      attacker.graphql({
        query: reportEvents,
        variables: {
          events: { usageEvents: items.map((k) => ({ customerId, eventName: 'used', idempotencyKey: `${n}-${k}`, dimensions: { k } })) },
        },
      })
    const usages = () =>
      attacker.graphql({
        query: 'mutation ($input: ReportUsageBulkInput!) { reportUsageBulk(input: $input) { currentUsage } }',
        variables: { input: { usages: items.map(() => ({ customerId, featureId, value: 1 })) } },
      })
    await attacker.repeat(30, (n) => (n % 2 === 0 ? events(n) : usages()), 60)
  },
}

const newCustomers: Attack = {
  name: 'new-customers',
  about: 'a server key: customers with long names and metadata, made as fast as they are answered',
  run: (attacker) =>
    attacker.repeat(8, (n, caller) => {
      const input = { customerId: `new-${n}`, name: 'n'.repeat(100_000), additionalMetaData: { a: 'm'.repeat(100_000) } }
      const query = 'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }'
      return attacker.graphql({ query, variables: { input } }, { address: attacker.address(caller) })
    }),
}

const boardForms: Attack = {
  name: 'board-forms',
  about: 'another site: forms that the browser of an operator sends to the queue board, with its key',
  mustBeRefused: true,
  run: async (attacker) => {
    const authorization = `Basic ${Buffer.from(`operator:${attacker.target.operatorKey}`).toString('base64')}`
    const origins = ['https://elsewhere.example', 'null', 'http://127.0.0.1.elsewhere.example']
    await attacker.repeat(2, async (n, caller) => {
      const headers = { authorization, origin: origins[n % origins.length]!, 'content-type': 'application/x-www-form-urlencoded' }
      // The ways that a form can take: others need more than a browser sends by itself.
      const path = n % 2 ? '/queues/api/queues/event-aggregation/add' : '/queues/api/metrics/history/purge'
      await attacker.call({ address: attacker.address(caller), method: 'POST', path, headers, body: 'name=forged&data=%7B%7D' })
      await attacker.pause(20)
    })
  },
}

export const writeAttacks: readonly Attack[] = [suggestions, yamlBombs, largeCatalogs, largeEvents, fullCalls, newCustomers, boardForms]
