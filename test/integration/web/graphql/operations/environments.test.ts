import { expect } from 'chai'
import type { GraphQLObjectType } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import * as decimal from '../../../../../src/kernel/decimal.js'
import { announceOver } from '../../../../../src/notifications/alerts/announcing.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import type { AlertMessage } from '../../../../../src/updates/wire/alert-message.js'
import { operatorFields, operatorsToo } from '../../../../../src/web/access/auth.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { eventually } from '../../../../support/eventually.js'
import { operationDocument } from '../../../../support/operation-document.js'
import { operatorKey } from '../../front-door.js'
import type { TestEnvironment, WholePlatform } from '../../whole-platform.js'
import { attempts, type Outcome } from './attempts.js'
import { must, openTwoEnvironments, type TwoEnvironments } from './two-environments.js'

describe('an operation with the identifiers of another environment', function () {
  this.timeout(60_000)
  const schema = createSchema()
  let platform: WholePlatform
  let theirs: TestEnvironment
  let ours: TestEnvironment
  let ids: TwoEnvironments['ids']

  before(async () => {
    const opened = await openTwoEnvironments()
    platform = opened.platform
    theirs = opened.theirs
    ours = opened.ours
    ids = opened.ids
  })
  after(async () => expect(await platform.close()).to.deep.equal([]))

  /** Of everything that belongs to their environment, so that any change of it shows. */
  async function fingerprint(): Promise<string> {
    const tables = await platform.pool.query<{ name: string; column: string }>(
      `SELECT t.relname AS name, CASE t.relname WHEN 'environment' THEN 'id' ELSE 'environment_id' END AS column FROM pg_class t
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = CASE t.relname WHEN 'environment' THEN 'id' ELSE 'environment_id' END
       WHERE t.relkind IN ('r', 'p') AND NOT t.relispartition AND t.relnamespace = 'public'::regnamespace ORDER BY 1`,
    )
    expect(tables.rows.map(({ name }) => name)).to.include.members([
      'customer',
      'subscription',
      'environment',
      'raw_event',
      'usage_counter',
    ])
    const each = tables.rows.map(
      ({ name, column }) =>
        `SELECT '${name}' AS name, md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM "${name}" t WHERE "${column}" = $1::uuid`,
    )
    const { rows } = await platform.pool.query<{ name: string; hash: string }>(each.join(' UNION ALL '), [theirs.id])
    return rows.map(({ name, hash }) => `${name} ${hash}`).join('\n')
  }

  it('is tried for every query and mutation that there is', () => {
    const all = [schema.getQueryType()!, schema.getMutationType()!].flatMap((root) =>
      Object.keys(root.getFields()).map((field) => `${root.name}.${field}`),
    )
    expect(Object.keys(attempts).sort()).to.deep.equal(all.sort())
  })

  const outcomeOf = (value: unknown, hasErrors: boolean): Outcome => {
    if (hasErrors) return 'refused'
    const isEmptyList = (Array.isArray(value) && value.length === 0) || (value as { totalCount?: number } | null)?.totalCount === 0
    return value === null || isEmptyList ? 'nothing' : 'own'
  }
  for (const [name, tries] of Object.entries(attempts)) {
    it(`finds nothing and changes nothing: ${name}`, async () => {
      const [rootName, field] = name.split('.') as [string, string]
      const root = schema.getType(rootName) as GraphQLObjectType
      const before = await fingerprint()
      for (const [outcome, variables] of tries) {
        const sent = variables({ ids, theirs })
        // What crosses environments is the operator's alone: then the question is whether others may ask it.
        const headers: Record<string, string> =
          operatorFields.has(field) || operatorsToo.has(field) ? {} : { 'x-operator-key': operatorKey }
        const body = await ours.ask(operationDocument(root, field), sent, headers)
        const shown = JSON.stringify(body)
        expect(outcomeOf(body.data?.[field] ?? null, body.errors !== undefined), `${JSON.stringify(sent)}: ${shown}`).to.equal(outcome)
        // What was sent may come back in a message; nothing else of theirs may.
        const secret = [theirs.id, ...Object.values(ids)].filter((id) => !JSON.stringify(sent).includes(id))
        for (const text of ['their hidden', 'their@hidden', ...secret]) expect(shown).to.not.include(text)
      }
      expect(await fingerprint()).to.equal(before)
    })
  }

  it('named outright is refused: an input’s environmentId must be that of the key', async () => {
    const query = 'query ($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { id } }'
    const { data, errors } = await ours.ask(query, { input: { customerId: 'their-customer', environmentId: theirs.id } })
    expect(data?.getCustomerByRefId ?? null).to.equal(null)
    expect(errors![0]!.extensions.code).to.equal('IdentityForbidden')
  })

  describe('live', () => {
    let client: Client
    before(() => {
      client = createClient({
        url: `${platform.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { headers: { 'X-API-KEY': ours.serverKey } },
        retryAttempts: 0,
      })
    })
    after(() => client.dispose())

    /** Something of every kind, in their environment, then in ours. */
    const change = async (environment: TestEnvironment, name: string, count: number) => {
      await must(environment, 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', {
        input: { customerId: `${name}-customer`, featureId: `${name}-calls`, value: 1 },
      })
      await must(
        environment,
        'mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { id } }',
        {
          input: { customerId: `${name}-customer`, promotionalEntitlements: [{ featureId: `${name}-sso`, period: 'LIFETIME' }] },
        },
      )
      const limit = 1_000 + count
      const plan = {
        refId: `${name}-plan`,
        product: `${name}-product`,
        entitlements: [{ feature: `${name}-calls`, limit, resetPeriod: 'MONTH' }],
      }
      await must(environment, 'mutation ($input: JSON!) { applyCatalog(input: $input) { action } }', { input: { plans: [plan] } })
      announceOver({ redis: platform.redis, prefix: platform.queues.prefix, log: silentLogger() })([alertOf(environment, name)])
    }
    const alertOf = ({ id }: TestEnvironment, name: string): AlertMessage => ({
      v: 1,
      kind: 'alert',
      environmentId: id,
      customerId: `${name}-customer`,
      crossing: {
        id: `${name}-crossing`,
        alertId: `${name}-alert`,
        customerId: `${name}-customer`,
        resourceId: null,
        featureId: `${name}-calls`,
        subscriptionId: null,
        threshold: { kind: 'SHARE', value: decimal.fromNumber(80) },
        usage: decimal.fromNumber(8),
        limit: decimal.fromNumber(10),
        periodStart: null,
        periodEnd: null,
        reachedAt: 0,
      },
    })
    let count = 0
    // Nobody hears anything of credits, which there are none of.
    const heard = Object.keys(schema.getSubscriptionType()!.getFields()).filter((field) => field !== 'creditBalanceUpdated')
    for (const field of heard) {
      it(`hears nothing of theirs: ${field}`, async () => {
        const received: string[] = []
        const query = operationDocument(schema.getSubscriptionType()!, field)
        const unsubscribe = client.subscribe(
          { query },
          {
            next: (message) => received.push(JSON.stringify(message)),
            error: (error) => received.push(String(error)),
            complete: () => undefined,
          },
        )
        count += 1
        await change(theirs, 'their', count)
        // Ours comes after theirs on the same way, so theirs would have come before it; repeated until the subscription has begun.
        await eventually(
          'a change of ours',
          async () => {
            if (received.length > 0) return true
            count += 1
            await change(ours, 'our', count)
            return received.length > 0
          },
          30_000,
        )
        unsubscribe()
        for (const message of received) for (const text of ['their', theirs.id]) expect(message).to.not.include(text)
      })
    }
  })
})
