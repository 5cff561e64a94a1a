// The reference of the `graphql` benchmark: the barest Koa and graphql-http server with memoised documents. It answers always the same
// entitlement, of the JSON in its first argument, and at /edge the text of its second.
import { buildSchema, type DocumentNode, parse, validate } from 'graphql'
import { createHandler } from 'graphql-http/lib/use/koa'
import Koa from 'koa'
import { LRUCache } from 'lru-cache'

const entitlement = JSON.parse(process.argv[2] ?? '') as object
const edge = process.argv[3] ?? ''

const schema = buildSchema(`
  scalar DateTime
  input EntitlementOptions { requestedUsage: Float requestedValues: [String!] shouldTrack: Boolean }
  input FetchEntitlementQuery { customerId: String! environmentId: String featureId: String! options: EntitlementOptions resourceId: String }
  type Feature { refId: String! displayName: String! featureType: String! meterType: String featureUnits: String featureUnitsPlural: String }
  type Entitlement {
    isGranted: Boolean! accessDeniedReason: String usageLimit: Float hasUnlimitedUsage: Boolean! hasSoftLimit: Boolean currentUsage: Float
    requestedUsage: Float resetPeriod: String usagePeriodAnchor: DateTime usagePeriodStart: DateTime usagePeriodEnd: DateTime
    entitlementUpdatedAt: DateTime usageUpdatedAt: DateTime feature: Feature
  }
  type Query { entitlement(query: FetchEntitlementQuery!): Entitlement! }
`)

const documents = new LRUCache<string, DocumentNode>({ max: 1_000 })
const valid = new LRUCache<DocumentNode, readonly []>({ max: 1_000 })

const koa = new Koa()
koa.use(async (ctx, next) => {
  if (ctx.path !== '/edge') return next()
  ctx.type = 'json'
  ctx.body = edge
})
koa.use(
  createHandler({
    schema,
    rootValue: { entitlement: () => entitlement },
    parse: (source) => {
      const text = String(source)
      const document = documents.get(text) ?? parse(text)
      documents.set(text, document)
      return document
    },
    validate: (ofSchema, document, rules) => {
      const known = valid.get(document)
      if (known) return known
      const errors = validate(ofSchema, document, rules)
      if (errors.length === 0) valid.set(document, [])
      return errors
    },
  }),
)
const server = koa.listen(0, '127.0.0.1', () => {
  const address = server.address() as { port: number }
  process.stdout.write(`${JSON.stringify({ msg: 'listening', grpcPort: 0, httpPort: address.port })}\n`)
})
process.on('SIGTERM', () => process.exit())
