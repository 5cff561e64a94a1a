import type { Server } from 'node:http'
import { Hearing } from '../changes/hearing.js'
import { hearKeyNews } from '../environment/key-news.js'
import type { Secret } from '../kernel/secret.js'
import { defaultMaxWaitingJobs } from '../metering/intake/config.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { openSubscriber, sharedRedis } from '../platform/redis.js'
import { HeldStates } from '../updates/held/held-states.js'
import { SharedStates } from '../updates/held/shared-states.js'
import { StateCache } from '../updates/held/state-cache.js'
import { ChangeStream } from '../updates/stream/change-stream.js'
import { TrustedProxies } from '../web/access/address.js'
import { Admission } from '../web/access/admission.js'
import { turns } from '../web/access/fair-turns.js'
import { type RateLimitOptions, RateLimits } from '../web/access/rate-limits.js'
import { UnreadAnswers } from '../web/access/unread-answers.js'
import { openEdge } from '../web/edge/edge.js'
import { GraphqlDoor } from '../web/graphql/door/door.js'
import type { Services } from '../web/graphql/operations/context.js'
import { createSchema } from '../web/graphql/schema.js'
import { Bodies } from '../web/http/body.js'
import type { ConnectionLimits } from '../web/http/connections.js'
import { createHttpServer } from '../web/http/koa.js'
import { ChangeFeed } from '../web/live/change-feed.js'
import { Push } from '../web/live/push.js'
import { SocketDoor, type SocketPlaces } from '../web/live/socket.js'
import { serveDocs } from '../web/pages/docs.js'
import { eventsTable } from '../web/pages/events-table.js'
import { serveGraphiql } from '../web/pages/graphiql.js'
import { serveHome } from '../web/pages/home.js'
import { serveQueueBoard } from '../web/pages/queue-board.js'
import { referencePage } from '../web/pages/reference.js'
import type { App } from './app.js'
import { limitsOf, limitsTable } from './limits-table.js'

export interface FrontDoorLimits extends RateLimitOptions, ConnectionLimits, SocketPlaces {
  /** Of one operation. */
  operationTimeoutMs: number
  /** Of entitlement states in memory, estimated. */
  heldStatesMaxBytes: number
  /** Of a queue of ingestion, beyond which usage is refused: shown here. */
  maxWaitingJobs: number
}

/** A server key's host application may load a whole process; a browser asks a few times per page. */
export const defaultLimits: FrontDoorLimits = {
  perKey: 20_000,
  perCustomer: 100,
  perAddress: 40_000,
  connections: 20_000,
  connectionsPerAddress: 4_000,
  sockets: 10_000,
  socketsPerAddress: 2_000,
  socketsPerKey: 2_000,
  socketsPerCustomer: 20,
  operationTimeoutMs: 10_000,
  heldStatesMaxBytes: 128 * 1024 * 1024,
  maxWaitingJobs: defaultMaxWaitingJobs,
}

/** The memory of a web process for entitlement states. */
export function openHeldStates({
  app,
  life,
  queues,
  maxBytes = defaultLimits.heldStatesMaxBytes,
}: {
  app: App
  life: Life
  queues: QueueConnection
  maxBytes?: number
}): HeldStates {
  const { databaseEpoch, entitlements: source, clock } = app
  const cache = new StateCache(sharedRedis(life, queues.redisUrl, 'request'), queues.prefix, databaseEpoch)
  const shared = new SharedStates({ cache, source, log: life.log })
  return new HeldStates({ life, queues, databaseEpoch, source, shared, clock, maxBytes })
}

export interface FrontDoorOptions {
  app: App
  held: HeldStates
  usage: Services['usage']
  life: Life
  queues: QueueConnection
  /** Serves the queue board to who has it; absent: no queue board. */
  operatorKey?: Secret
  /** Queues of ingestion that the board shows; default 1. */
  ingestionShards?: number
  hasGraphiql: boolean
  /** What GraphiQL sends when it is opened on this machine; absent: whoever opens it has to name a key. */
  graphiqlKey?: Secret
  /** Of a sidecar's gRPC port, for the docs to name. */
  sidecarAddress?: string
  limits?: Partial<Omit<FrontDoorLimits, 'heldStatesMaxBytes'>>
  /** Addresses and networks of proxies that say who calls; default: none. */
  trustedProxies?: readonly string[]
}

/** All that answers in a web process. Not listening yet. */
export function createFrontDoor({
  app: { databaseEpoch, ...services },
  held,
  usage,
  life,
  queues,
  operatorKey,
  ingestionShards = 1,
  hasGraphiql,
  graphiqlKey,
  sidecarAddress,
  limits,
  trustedProxies = [],
}: FrontDoorOptions): Server {
  const { log, metrics } = life
  const { operationTimeoutMs: timeoutMs, perKey, perCustomer, perAddress, ...places } = { ...defaultLimits, ...limits }
  const app = { ...services, entitlements: held, usage }
  const schema = createSchema()
  const rateLimits = new RateLimits({ perKey, perCustomer, perAddress })
  const admission = new Admission({ metrics })
  hearKeyNews(life, queues, app.environments.keys)
  const trusted = new TrustedProxies(trustedProxies)
  const { prefix } = queues
  const subscriber = openSubscriber(life, queues)
  const redis = sharedRedis(life, queues.redisUrl, 'request')
  const feed = new ChangeFeed({ redis: subscriber, prefix, turns, log })
  feed.watch(life, new Hearing({ subscriber, publisher: redis, prefix }))
  databaseEpoch.onChange(() => feed.tellGap())
  const stream = new ChangeStream({ redis, prefix, databaseEpoch })
  const push = new Push({ app, schema, feed, stream, turns, log, metrics })
  const unread = new UnreadAnswers(metrics)
  return createHttpServer({
    life,
    connections: places,
    edge: openEdge({ app, schema, trusted, rateLimits, timeoutMs, log, unread }),
    editor: hasGraphiql ? serveGraphiql(graphiqlKey ?? null) : null,
    graphql: {
      door: new GraphqlDoor({
        app,
        schema,
        rateLimits,
        operatorKey,
        timeoutMs,
        heldState: held.held.bind(held),
        announce: held.announce.bind(held),
        log,
        metrics,
        unread,
        grow: held.grow.bind(held),
      }),
      bodies: new Bodies({ metrics }),
      rateLimits,
      admission,
      unread,
      trusted,
      clock: app.clock,
      log,
    },
    home: serveHome({ hasEditor: hasGraphiql, hasQueueBoard: operatorKey !== undefined }),
    docs: serveDocs(
      [referencePage(schema)],
      { limits: limitsTable(limitsOf({ ...defaultLimits, ...limits })), events: eventsTable() },
      { metrics, sidecarAddress },
    ),
    queueBoard: operatorKey ? serveQueueBoard({ life, environments: app.environments, queues, ingestionShards, operatorKey }) : null,
    socket: new SocketDoor({ environments: app.environments, trusted, schema, push, feed, rateLimits, places, life }),
  })
}
