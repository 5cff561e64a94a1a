import { makeValidator } from 'envalid'
import { backlogVariables, shardVariables } from '../metering/intake/config.js'
import { targetsOf, webhookVariables } from '../notifications/webhooks/config.js'
import { Sealing } from '../notifications/webhooks/secrets.js'
import { loadTracing } from '../platform/cloud/traces.js'
import {
  clusterProblems,
  databaseVariables,
  flag,
  port,
  positive,
  processVariables,
  redisVariables,
  secret,
  str,
} from '../platform/config.js'
import { watchEpoch } from '../platform/postgres.js'
import { runProcess } from '../platform/process.js'
import { trialVariables } from '../subscription/time/config.js'
import { createApp } from '../wiring/app.js'
import { createFrontDoor, defaultLimits, openHeldStates } from '../wiring/front-door.js'
import { openStores } from '../wiring/stores.js'
import { createUsage } from '../wiring/usage.js'
import { TrustedProxies } from './access/address.js'
import { listenWidely } from './http/listeners.js'

const proxies = makeValidator<string[]>((input) => {
  const listed = input.split(',').map((proxy) => proxy.trim())
  // Throws for what is none.
  new TrustedProxies(listed)
  return listed
})

const webConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4000, desc: 'Port of the HTTP server' }),
  METRICS_PORT: port({ default: 4100, desc: 'Port of metrics, apart from that of the API: whoever reaches it reads them' }),
  METRICS_ADDRESS: str({ default: undefined, desc: 'Address that metrics listen on; that of BIND_ADDRESS unless given' }),
  ...shardVariables,
  ...backlogVariables,
  ...webhookVariables,
  ...trialVariables,
  OPERATOR_KEY: secret({
    default: undefined,
    desc: 'Key of the operator: environments, keys, queue board, payments by hand; without it they are off',
  }),
  OPERATION_TIMEOUT_MS: positive({
    default: defaultLimits.operationTimeoutMs,
    desc: 'Time for one GraphQL operation or edge request; its SQL ends with it',
  }),
  RATE_LIMIT_PER_ADDRESS: positive({
    default: defaultLimits.perAddress,
    desc: 'Requests per second that one process answers for one address, whatever the keys',
  }),
  RATE_LIMIT_PER_KEY: positive({ default: defaultLimits.perKey, desc: 'Requests per second that one process answers for one API key' }),
  RATE_LIMIT_PER_CUSTOMER: positive({
    default: defaultLimits.perCustomer,
    desc: 'Requests per second that one process answers for one customer with a client key',
  }),
  CONNECTIONS_MAX: positive({
    default: defaultLimits.connections,
    desc: 'Connections of one process, WebSockets too',
  }),
  CONNECTIONS_PER_ADDRESS: positive({
    default: defaultLimits.connectionsPerAddress,
    desc: 'Connections of one address, unless it is in TRUSTED_PROXIES',
  }),
  TRUSTED_PROXIES: proxies({
    default: undefined,
    desc: 'Addresses and networks (10.0.0.0/8, by commas) of proxies whose X-Forwarded-For says who calls',
  }),
  SOCKETS_MAX: positive({ default: defaultLimits.sockets, desc: 'WebSockets that one process has open at a time' }),
  SOCKETS_PER_ADDRESS: positive({
    default: defaultLimits.socketsPerAddress,
    desc: 'WebSockets that one process has open from one address at a time',
  }),
  SOCKETS_PER_KEY: positive({
    default: defaultLimits.socketsPerKey,
    desc: 'WebSockets that one process has open with one API key at a time',
  }),
  SOCKETS_PER_CUSTOMER: positive({
    default: defaultLimits.socketsPerCustomer,
    desc: 'WebSockets that one process has open for one customer with a client key at a time',
  }),
  HELD_STATES_MAX_BYTES: positive({
    default: defaultLimits.heldStatesMaxBytes,
    desc: 'Memory for entitlement states that are held, estimated',
  }),
  GRAPHIQL: flag({
    default: false,
    devDefault: true,
    desc: 'Serves the GraphiQL editor at /graphql; on by default unless NODE_ENV is production',
  }),
  SIDECAR_ADDRESS: str({ default: undefined, desc: 'host:port of a sidecar, for the examples of the documentation' }),
  GRAPHIQL_KEY: secret({
    default: undefined,
    desc: 'API key that the GraphiQL editor opens with, in a browser on the same machine only; without it whoever opens it has to name one',
  }),
}

/** The front door. Any number may run: none keeps anything that another one would need. */
await runProcess({ name: 'web', spec: webConfig, check: clusterProblems, loadTracing }, async (config, life) => {
  const { postgres, clock, queues } = await openStores(life, config)
  const app = createApp({
    life,
    postgres,
    queues,
    clock,
    webhooks: { sealing: new Sealing(config.SECRETS_KEY), targets: targetsOf(config) },
    trialEndingSoonDays: config.TRIAL_ENDING_SOON_DAYS,
  })
  watchEpoch(life, postgres)
  const held = openHeldStates({ app, life, queues, maxBytes: config.HELD_STATES_MAX_BYTES })
  const usage = createUsage({
    life,
    queues,
    postgres,
    app,
    shards: config.INGESTION_SHARDS,
    limits: {
      maxWaitingJobs: config.INGESTION_MAX_WAITING_JOBS,
      maxRedisBytes: config.INGESTION_MAX_REDIS_MB === undefined ? null : config.INGESTION_MAX_REDIS_MB * 2 ** 20,
    },
    expectAnnouncement: held.expectAnnouncement.bind(held),
    answerWithinMs: config.OPERATION_TIMEOUT_MS,
  })
  const server = createFrontDoor({
    app,
    held,
    usage,
    life,
    queues,
    operatorKey: config.OPERATOR_KEY,
    ingestionShards: config.INGESTION_SHARDS,
    hasGraphiql: config.GRAPHIQL,
    graphiqlKey: config.GRAPHIQL_KEY,
    sidecarAddress: config.SIDECAR_ADDRESS,
    limits: {
      operationTimeoutMs: config.OPERATION_TIMEOUT_MS,
      perKey: config.RATE_LIMIT_PER_KEY,
      perCustomer: config.RATE_LIMIT_PER_CUSTOMER,
      perAddress: config.RATE_LIMIT_PER_ADDRESS,
      connections: config.CONNECTIONS_MAX,
      connectionsPerAddress: config.CONNECTIONS_PER_ADDRESS,
      sockets: config.SOCKETS_MAX,
      socketsPerAddress: config.SOCKETS_PER_ADDRESS,
      socketsPerKey: config.SOCKETS_PER_KEY,
      socketsPerCustomer: config.SOCKETS_PER_CUSTOMER,
      maxWaitingJobs: config.INGESTION_MAX_WAITING_JOBS,
    },
    trustedProxies: config.TRUSTED_PROXIES,
  })
  const portTaken = await listenWidely(server, life, { port: config.PORT, host: config.BIND_ADDRESS })
  // Second, so that who is told there that the process is ready finds the API.
  const metricsPort = await life.serveHealth({ port: config.METRICS_PORT, host: config.METRICS_ADDRESS ?? config.BIND_ADDRESS })
  life.log.info({ port: portTaken, metricsPort }, 'listening')
})
