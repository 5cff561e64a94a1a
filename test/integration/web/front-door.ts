import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { unavailable } from '../../../src/kernel/problem.js'
import { Secret } from '../../../src/kernel/secret.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { listen } from '../../../src/platform/health.js'
import { type Logger, silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import type { Services } from '../../../src/web/graphql/operations/context.js'
import { packageRoot } from '../../../src/web/pages/package-files.js'
import { type App, createApp } from '../../../src/wiring/app.js'
import { createFrontDoor, type FrontDoorLimits, openHeldStates } from '../../../src/wiring/front-door.js'
import { makeToken } from '../../support/customer-token.js'
import { createTestDatabase } from '../../support/database.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { testWebhooks } from '../../support/webhooks.js'

/** A front door on a port of its own, with the real services and the example catalog in one environment. */
export interface FrontDoor {
  url: string
  app: App
  life: Life
  environmentId: string
  databaseUrl: string
  queuePrefix: string
  serverKey: string
  clientKey: string
  operatorKey: string
  /** The `X-CUSTOMER-KEY` of a customer. */
  customerToken(customerId: string): string
  /** Posts an operation with the server key, unless other headers are given. */
  ask<Data>(query: string, variables?: object, headers?: Record<string, string>): Promise<GraphqlBody<Data>>
  close(): Promise<Error[]>
}

export interface GraphqlBody<Data = Record<string, unknown>> {
  data?: Data | null
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string; traceId: string; [fact: string]: unknown } }[]
}

export const operatorKey = 'operator-key-of-the-tests'
export const graphiqlKey = 'server-key-"of"-GraphiQL'

export async function openFrontDoor({
  limits,
  log = silentLogger(),
}: {
  limits?: Partial<FrontDoorLimits>
  log?: Logger
} = {}): Promise<FrontDoor> {
  const database = await createTestDatabase()
  const life = new Life('web', log)
  const { app, queues, url } = await serve(life, { databaseUrl: database.url, queuePrefix: testRedisPrefix(), limits })
  const { environment, signingSecret } = await app.environments.create({ refId: 'test' })
  const createKey = async (kind: 'SERVER' | 'CLIENT') =>
    (await app.environments.createKey({ environment: 'test', kind, name: kind, expiresAt: null })).key
  const [serverKey, clientKey] = [await createKey('SERVER'), await createKey('CLIENT')]
  const catalog: unknown = parse(readFileSync(join(packageRoot, 'src/local/example-catalog.yaml'), 'utf8'))
  await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
  return {
    url,
    app,
    life,
    environmentId: environment.id,
    databaseUrl: database.url,
    queuePrefix: queues.prefix,
    serverKey,
    clientKey,
    operatorKey,
    customerToken: (customerId) => makeToken(customerId, signingSecret),
    ask: (...asked) => ask(url, serverKey, ...asked),
    close: async () => {
      const failures = await life.stop()
      await database.drop()
      return failures
    },
  }
}

/** Another web process of the same platform, as far as one process can tell. Close it before the first one. */
export async function openTwin(first: FrontDoor): Promise<FrontDoor> {
  const life = new Life('web', silentLogger())
  const { app, url } = await serve(life, first)
  return { ...first, app, life, url, ask: (...asked) => ask(url, first.serverKey, ...asked), close: () => life.stop() }
}

async function serve(
  life: Life,
  { databaseUrl, queuePrefix, limits }: Pick<FrontDoor, 'databaseUrl' | 'queuePrefix'> & { limits?: Partial<FrontDoorLimits> },
) {
  const postgres = openPostgres(life, databaseUrl, { poolSize: 5 })
  const queues = { redisUrl: testRedisUrl(), prefix: queuePrefix }
  const app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool), webhooks: testWebhooks })
  const held = openHeldStates({ app, life, queues, maxBytes: limits?.heldStatesMaxBytes })
  const server = createFrontDoor({
    app,
    held,
    usage: unreached,
    life,
    queues,
    operatorKey: new Secret(operatorKey),
    ingestionShards: 3,
    hasGraphiql: true,
    graphiqlKey: new Secret(graphiqlKey),
    sidecarAddress: '127.0.0.1:9443',
    limits,
  })
  return { app, queues, url: `http://127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}` }
}

async function ask<Data>(
  url: string,
  serverKey: string,
  query: string,
  variables: object = {},
  headers: Record<string, string> = { 'x-api-key': serverKey },
): Promise<GraphqlBody<Data>> {
  return (await (await post(url, { query, variables }, headers)).json()) as GraphqlBody<Data>
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Usage goes through the queue to a worker that does not run here: the tests of metering have it. */
const unreached = {
  report: () => Promise.reject(unavailable('no worker')),
  reportEvents: () => Promise.reject(unavailable('no worker')),
} as unknown as Services['usage']
