import { expect } from 'chai'
import { createSchema } from '../../../src/web/graphql/schema.js'
import { operationDocument } from '../../support/operation-document.js'
import type { MeteringBench } from '../metering/fixture.js'
import { type GraphqlBody, operatorKey, post } from '../web/front-door.js'
import { type Customer, catalog } from './mutation-scenarios.js'

export const mutations = createSchema().getMutationType()!
const read = `query($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) {
  accessDeniedReason entitlements { feature { refId displayName } isGranted usageLimit currentUsage usagePeriodEnd validUntil } } }`

export interface MutatedCustomer extends Customer {
  /** Of the environment, and of its key. */
  name: string
  /** Asks the first of the web processes. */
  ask(query: string, variables: object): Promise<unknown>
  /** In the database; $1 is the environment's id. */
  sql(text: string): Promise<Record<string, string>[]>
}

/** The customer acme, who is still to be provisioned, in an environment of its own with a catalog; asked for through web processes. */
export async function newCustomer(bench: MeteringBench, webs: readonly { url: string }[], name: string): Promise<MutatedCustomer> {
  const { environment } = await bench.app.environments.create({ refId: name, isTest: true })
  const { key } = await bench.app.environments.createKey({ environment: name, kind: 'SERVER', name, expiresAt: null })
  await bench.app.catalog.apply(environment.id, catalog(), { dryRun: false, archiveMissing: false })
  const ask = async (url: string, query: string, variables: object) => {
    const headers = { 'x-api-key': key, 'x-operator-key': operatorKey }
    const { data, errors } = (await (await post(url, { query, variables }, headers)).json()) as GraphqlBody
    expect(errors, query.slice(0, 60)).to.equal(undefined)
    return Object.values(data!)[0]
  }
  return {
    name,
    environmentId: environment.id,
    sql: async (text) => (await bench.pool.query(text, [environment.id])).rows,
    ask: (query, variables) => ask(webs[0]!.url, query, variables),
    // biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON
    mutate: (mutation, variables) => ask(webs[0]!.url, operationDocument(mutations, mutation), variables) as Promise<any>,
    statesThrough: (holders) =>
      Promise.all(
        webs.map(({ url }) => Promise.all(holders.map((resourceId) => ask(url, read, { query: { customerId: 'acme', resourceId } })))),
      ),
    countEvents: async (usageEvents) => {
      await bench.usage.reportEvents(environment.id, usageEvents)
      const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [
        environment.id,
      ])
      for (const { id } of rows) await bench.newAggregation().aggregate({ v: 1, environmentId: environment.id, batchId: id, stored: null })
    },
  }
}
