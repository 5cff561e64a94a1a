/** What an end user asks, with a client key and its own token, and what a server key of one tenant asks. */
import type { Attack } from '../attack.js'
import type { Attacker } from '../attacker/attacker.js'
import { headOf, open } from '../attacker/http.js'

const entitlementQuery =
  'query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted usageLimit feature { refId displayName } } }'
const megabyte = 1024 * 1024

const longResourceIds: Attack = {
  name: 'long-resource-ids',
  about: 'an end user: its own entitlement with a resourceId of 5 MB, another each time',
  run: async (attacker) => {
    const { customerId, featureId } = attacker.target
    const length = 4.9 * megabyte
    await attacker.repeat(4, (n, caller) => {
      const query = { customerId, featureId, resourceId: `${n}-`.padEnd(length, 'r') }
      return attacker.graphql(
        { query: entitlementQuery, variables: { query } },
        { address: attacker.address(caller), headers: attacker.asEndUser() },
      )
    })
  },
}

const unknownResources: Attack = {
  name: 'unknown-resources',
  about: 'an end user: its own entitlement for resources that do not exist, another each time',
  run: async (attacker) => {
    const { customerId, featureId } = attacker.target
    await attacker.repeat(8, (n, caller) => {
      const query = { customerId, featureId, resourceId: `${n}-`.padEnd(255, 'r') }
      return attacker.graphql(
        { query: entitlementQuery, variables: { query } },
        { address: attacker.address(caller), headers: attacker.asEndUser() },
      )
    })
  },
}

const unknownCustomers: Attack = {
  name: 'unknown-customers',
  about: 'a server key: entitlements of customers that do not exist, another each time',
  run: async (attacker) => {
    const { featureId } = attacker.target
    await attacker.repeat(8, (n, caller) => {
      const query = { customerId: `${n}-`.padEnd(255, 'c'), featureId }
      return attacker.graphql({ query: entitlementQuery, variables: { query } }, { address: attacker.address(caller) })
    })
  },
}

const sameQuestion: Attack = {
  name: 'same-question',
  about: 'an end user: one question in texts of 2.8 MB that differ',
  run: async (attacker) => {
    const { customerId, featureId } = attacker.target
    await attacker.repeat(4, (n, caller) => {
      const request = {
        query: entitlementQuery,
        variables: { query: { customerId, featureId } },
        extensions: { n, a: 'e'.repeat(2.8 * megabyte) },
      }
      return attacker.graphql(request, { address: attacker.address(caller), headers: attacker.asEndUser() })
    })
  },
}

/** 4,700 tokens that are valid, and not the same twice. */
function wideDocument(n: number, customerId: string): string {
  const values = Array.from({ length: 25 }, (_, k) => `"v${k}"`).join(' ')
  const checks = Array.from(
    { length: 95 },
    (_, k) =>
      `a${k}: entitlement(query: {customerId: "${customerId}", featureId: "f${n}-${k}", options: {requestedValues: [${values}]}}) {isGranted}`,
  )
  return `query q${n} { ${checks.join(' ')} }`
}

const documents: Attack = {
  name: 'documents',
  about: 'an end user: documents of 20 kB that are valid, another each time',
  run: (attacker) =>
    attacker.repeat(4, (n, caller) =>
      attacker.graphql(
        { query: wideDocument(n, attacker.target.customerId) },
        { address: attacker.address(caller), headers: attacker.asEndUser() },
      ),
    ),
}

const wrongDocuments: Attack = {
  name: 'wrong-documents',
  about: 'an end user: documents of 4,000 wrong names, another each time',
  run: (attacker) =>
    attacker.repeat(4, (n, caller) => {
      const names = Array.from({ length: 2_000 }, (_, k) => `entitlemnt${n}x${k}`)
      return attacker.graphql({ query: `{ ${names.join(' ')} }` }, { address: attacker.address(caller), headers: attacker.asEndUser() })
    }),
}

const longOperationName: Attack = {
  name: 'long-operation-name',
  about: 'a server key: an operation name of 2 MB with 20 unknown variables',
  run: async (attacker) => {
    const name = 'n'.repeat(2 * megabyte)
    const uses = Array.from({ length: 20 }, (_, n) => `a${n}: customers(paging: $v${n}) { __typename }`)
    const body = JSON.stringify({ query: `query ${name} { ${uses.join(' ')} }` })
    await attacker.repeat(2, (_, caller) => attacker.graphql(body, { address: attacker.address(caller) }))
  },
}

/** Customers with what they hold, a full page: as much as one document may ask for. */
export const heavyQuery = (n: number) => `query heavy${n % 50} { customers(paging: { first: 100 }) { edges { node {
  id customerId name email additionalMetaData
  subscriptions { id status startDate plan { id refId displayName product { refId displayName }
    entitlements { usageLimit resetPeriod feature { refId displayName featureType } } } }
} } } }`

const heavyDocuments: Attack = {
  name: 'heavy-documents',
  about: 'a server key: 20 heavy documents a second',
  run: (attacker) => attacker.pace(20, (n) => attacker.graphql({ query: heavyQuery(n) })),
}

const heavyBatches: Attack = {
  name: 'heavy-batches',
  about: 'a server key: two batches of 25 heavy documents a second',
  run: (attacker) => attacker.pace(2, (n) => attacker.graphql(Array.from({ length: 25 }, (_, k) => ({ query: heavyQuery(n * 25 + k) })))),
}

const unreadAnswers: Attack = {
  name: 'unread-answers',
  about: 'a server key: eight connections with 40 heavy requests each whose answers are not read',
  run: async (attacker) => {
    const body = JSON.stringify({ query: heavyQuery(0) })
    const request = Buffer.from(`${headOf(Buffer.byteLength(body), attacker.asServer())}${body}`)
    for (let n = 0; n < 8; n++) {
      const socket = open(new URL(attacker.target.webUrl), attacker.address(n))
      socket.pause()
      attacker.tried += 1
      socket.on('close', () => {
        if (!attacker.signal.aborted) attacker.refused += 1
      })
      for (let k = 0; k < 40; k++) socket.write(request)
    }
    await attacker.wait()
  },
}

const metadataAnswers: Attack = {
  name: 'metadata-answers',
  about: 'a server key: metadata of 1 MB (or what is taken) under 90 aliases, on five connections that do not read',
  run: async (attacker) => {
    // The largest that the platform stores.
    for (const size of [megabyte, 60_000]) {
      const input = { customerId: `metadata-${size}`, additionalMetaData: { text: 'm'.repeat(size - 100) } }
      await attacker.graphql({
        query: 'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }',
        variables: { input },
      })
      const aliases = Array.from({ length: 90 }, (_, n) => `a${n}: additionalMetaData`)
      const query = `query ($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { ${aliases.join(' ')} } }`
      const body = JSON.stringify({ query, variables: { input: { customerId: input.customerId } } })
      for (let n = 0; n < 5; n++) {
        attacker.tried += 1
        const socket = open(new URL(attacker.target.webUrl), attacker.address(n))
        socket.on('close', () => {
          if (!attacker.signal.aborted) attacker.refused += 1
        })
        socket.pause()
        socket.write(`${headOf(Buffer.byteLength(body), attacker.asServer())}${body}`)
      }
    }
    await attacker.wait()
  },
}

const hugeLists: Attack = {
  name: 'huge-lists',
  about: 'a server key: filters with 200,000 values, and 1,000 conditions in each other',
  run: async (attacker) => {
    const query = 'query ($filter: CustomerFilter) { customers(filter: $filter) { edges { node { id } } } }'
    const values = Array.from({ length: 200_000 }, (_, n) => `customer-${n}`)
    let nested: object = { customerId: { eq: 'a' } }
    for (let depth = 0; depth < 1_000; depth++) nested = { and: [nested] }
    const requests = [
      { customerId: { in: values } },
      nested,
      { or: values.slice(0, 900).map((eq) => ({ customerId: { like: `%${eq}%` } })) },
    ]
    const bodies = requests.map((filter) => JSON.stringify({ query, variables: { filter } }))
    await attacker.repeat(3, (n, caller) => attacker.graphql(bodies[n % bodies.length]!, { address: attacker.address(caller) }))
  },
}

const oddInput: Attack = {
  name: 'odd-input',
  about: 'a server key: names and instants that exist in the language and not in the data',
  run: async (attacker) => {
    const filters = [
      '{constructor:{eq:"a"}}',
      '{__proto__:{eq:"a"}}',
      '{createdAt:{gt:"0000-01-01T00:00:00Z"}}',
      '{createdAt:{gt:"+275760-09-13T00:00:01Z"}}',
    ]
    const bodies = [
      ...filters.map((filter) => JSON.stringify({ query: `{ customers(filter: ${filter}) { edges { node { id } } } }` })),
      '{"query":"query ($filter: CustomerFilter) { customers(filter: $filter) { edges { node { id } } } }","variables":{"filter":{"__proto__":{"eq":1}}}}',
      '{"query":"{ customers(paging: {after: \\"\\u0000\\"}) { edges { node { id } } } }"}',
    ]
    await attacker.repeat(4, (n, caller) => attacker.graphql(bodies[n % bodies.length]!, { address: attacker.address(caller) }))
  },
}

const longUrls: Attack = {
  name: 'long-urls',
  about: 'an end user: edge requests with URLs of 14 kB, another each time',
  run: async (attacker) => {
    const { customerId } = attacker.target
    await attacker.repeat(8, (n, caller) => {
      const resources = Array.from({ length: 400 }, (_, k) => `resourceIds=${n}-${k}-${'r'.repeat(12)}`)
      const path = `/v1/c/${customerId}/entitlements.json?${resources.join('&').slice(0, 14_000)}`
      return attacker.call({ address: attacker.address(caller), method: 'GET', path, headers: attacker.asEndUser() })
    })
  },
}

const keysInUrls: Attack = {
  name: 'keys-in-urls',
  about: 'a server key, in the URL: heavy queries and wrong ones by GET',
  run: async (attacker) => {
    const { serverKey } = attacker.target
    const queries = [heavyQuery(0), '{ nothing }', 'mutation { archiveCustomer }']
    await attacker.repeat(4, (n, caller) => {
      const path = `/graphql?apiKey=${serverKey}&query=${encodeURIComponent(queries[n % queries.length]!)}`
      return attacker.call({ address: attacker.address(caller), method: 'GET', path, headers: attacker.asServer() })
    })
  },
}

const edgeCustomers: Attack = {
  name: 'edge-customers',
  about: 'a server key: edge requests about customers that do not exist, another each time',
  run: (attacker) =>
    attacker.repeat(8, (n, caller) => {
      const path = `/v1/c/${`${n}-`.padEnd(250, 'c')}/entitlements.json`
      return attacker.call({ address: attacker.address(caller), method: 'GET', path, headers: attacker.asServer() })
    }),
}

/** A catalog in which each of a hundred plans takes over what the one before gives, and adds to it. */
const chained = (plans: number) => ({
  features: Array.from({ length: 200 }, (_, n) => ({ refId: `chained-${n}`, type: 'NUMBER', meter: 'Fluctuating' })),
  products: [{ refId: 'chained' }],
  plans: Array.from({ length: plans }, (_, n) => ({
    refId: `chained-${n}`,
    product: 'chained',
    ...(n === 0 ? {} : { basePlan: `chained-${n - 1}` }),
    entitlements: Array.from({ length: 10 }, (_, k) => ({ feature: `chained-${(n * 10 + k) % 200}`, limit: n + 1 })),
  })),
})

const apply = (attacker: Attacker, input: object) =>
  attacker.graphql({ query: 'mutation ($input: JSON!) { applyCatalog(input: $input) { refId } }', variables: { input } })

const longChains: Attack = {
  name: 'long-chains',
  about: 'a server key: plans that each take over another one, as many as are taken, and documents about all of them',
  run: async (attacker) => {
    for (const plans of [100, 30]) await apply(attacker, chained(plans))
    await attacker.repeat(4, (n, caller) => attacker.graphql({ query: heavyQuery(n) }, { address: attacker.address(caller) }))
  },
}

/** Of sixty plans with a hundred entitlements each. */
async function sellMuch(attacker: Attacker): Promise<void> {
  const features = Array.from({ length: 100 }, (_, n) => ({ refId: `much-${n}`, type: 'NUMBER', meter: 'Fluctuating' }))
  const plans = Array.from({ length: 60 }, (_, n) => ({
    refId: `much-${n}`,
    product: 'much',
    entitlements: features.map(({ refId }) => ({ feature: refId, limit: n })),
  }))
  await apply(attacker, { features, products: [{ refId: 'much' }], plans })
}

const paywalls: Attack = {
  name: 'paywalls',
  about: 'a client key without a token: a paywall of sixty plans with a hundred entitlements, under seventy aliases',
  run: async (attacker) => {
    await sellMuch(attacker)
    const aliases = Array.from({ length: 70 }, (_, n) => `a${n}: usageLimit`).join(' ')
    const query = `query ($input: GetPaywallInput!) { paywall(input: $input) { plans { entitlements { ${aliases} } } } }`
    const headers = { 'x-api-key': attacker.target.clientKey }
    await attacker.repeat(4, (_, caller) =>
      attacker.graphql({ query, variables: { input: { productId: 'much' } } }, { address: attacker.address(caller), headers }),
    )
  },
}

const edgePaywalls: Attack = {
  name: 'edge-paywalls',
  about: 'a client key without a token: the page of a paywall of sixty plans with a hundred entitlements, as fast as it can',
  run: async (attacker) => {
    await sellMuch(attacker)
    const headers = { 'x-api-key': attacker.target.clientKey }
    await attacker.repeat(8, (_, caller) =>
      attacker.call({ address: attacker.address(caller), method: 'GET', path: '/v1/p/much/paywall.json', headers }),
    )
  },
}

const docsPages: Attack = {
  name: 'docs-pages',
  about: 'no key: pages of the docs as fast as eight callers can, and 400 connections that ask for ten of them and read none',
  run: async (attacker) => {
    const pages = ['index', 'graphql-api', 'sidecar', 'operations'].map((name) => `/docs/${name}`)
    for (let n = 0; n < 400 && !attacker.signal.aborted; n++) {
      const socket = open(new URL(attacker.target.webUrl), attacker.address(8 + (n % 4)))
      attacker.tried += 1
      socket.on('close', () => {
        if (!attacker.signal.aborted) attacker.refused += 1
      })
      socket.pause()
      for (let k = 0; k < 10; k++) socket.write(`GET ${pages[k % pages.length]} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      if (n % 20 === 19) await attacker.pause(10)
    }
    await attacker.repeat(8, (n, caller) =>
      attacker.call({ address: attacker.address(caller), method: 'GET', path: pages[n % pages.length]!, headers: {} }),
    )
  },
}

export const readAttacks: readonly Attack[] = [
  longChains,
  paywalls,
  edgePaywalls,
  docsPages,
  longResourceIds,
  unknownResources,
  unknownCustomers,
  sameQuestion,
  documents,
  wrongDocuments,
  longOperationName,
  heavyDocuments,
  heavyBatches,
  unreadAnswers,
  metadataAnswers,
  hugeLists,
  oddInput,
  longUrls,
  keysInUrls,
  edgeCustomers,
]
