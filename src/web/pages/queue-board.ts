import { createHash, timingSafeEqual } from 'node:crypto'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { KoaAdapter } from '@bull-board/koa'
import { Queue } from 'bullmq'
import type { Context, Middleware } from 'koa'
import { runImport } from '../../customer/jobs.js'
import type { Secret } from '../../kernel/secret.js'
import { aggregateEvents, fillUsage, ingestDirectUsage, ingestionShard } from '../../metering/wire/jobs.js'
import type { Life } from '../../platform/process.js'
import type { QueueConnection } from '../../platform/queue.js'
import { queuePrefix } from '../../platform/redis/slots.js'
import { openRedis } from '../../platform/redis.js'
import { applyDueTransitions } from '../../subscription/time/jobs.js'
import { deliverChanges, environmentQueue } from '../../updates/deliver/jobs.js'
import { isFromOwnPage, isRead } from '../access/origin.js'
import type { Services } from '../graphql/operations/context.js'
import { setPageHeaders } from './page-headers.js'

const path = '/queues'

/** The page would have browsers tell another site when an operator looks. Without it they take fonts of their own. */
const foreignFonts = /<link href="https:[^>]*>/

/** One queue per kind of work, beside the shards of ingestion and the queues that environments have of their own. */
const sharedQueues = [aggregateEvents, fillUsage, applyDueTransitions, runImport, deliverChanges].map(({ queue }) => queue)

export interface QueueBoardOptions {
  life: Life
  environments: Pick<Services['environments'], 'list'>
  queues: QueueConnection
  /** Queues that ingestion is spread over. */
  ingestionShards: number
  operatorKey: Secret
}

/** The queues of all environments, for operators: jobs can be looked at, retried and removed. */
export function serveQueueBoard({
  life,
  environments,
  queues: { redisUrl, prefix },
  ingestionShards,
  operatorKey,
}: QueueBoardOptions): Middleware {
  const connection = openRedis(life, redisUrl, 'request')
  const adapter = new KoaAdapter()
  adapter.setBasePath(path)
  const board = createBullBoard({ queues: [], serverAdapter: adapter, options: { uiConfig: { boardTitle: 'Tollgate queues' } } })
  const shown = new Set<string>()
  const show = (name: string) => {
    if (shown.has(name)) return
    shown.add(name)
    const queue = new Queue(name, { connection, prefix: queuePrefix(prefix, name) })
    queue.on('error', (error) => life.log.debug({ err: error, queue: name }, 'queue board lost its queue'))
    life.open(`queue board ${name}`, queue, (opened) => opened.close())
    board.addQueue(new BullMQAdapter(queue))
  }
  /** Which environments have sidecars that add usage themselves is known to the workers only; a queue that was ever used has left its mark. */
  const existing = async (names: string[]) => {
    const found = await Promise.all(
      names.map((name) => connection.exists(...['meta', 'id'].map((key) => `${queuePrefix(prefix, name)}:${name}:${key}`))),
    )
    return names.filter((_, index) => found[index]! > 0)
  }
  const serve = adapter.registerPlugin()
  return async (ctx, next) => {
    if (ctx.path !== path && !ctx.path.startsWith(`${path}/`)) return next()
    setPageHeaders(ctx, { inlineStyles: true })
    if (!isRead(ctx.method) && !isFromOwnPage(ctx.headers, { hasOwnHeader: ctx.get('x-operator-key') !== '' })) {
      ctx.status = 403
      ctx.body =
        'A change of a queue must come from the page of the queue board, or from a program (without Origin and Sec-Fetch-Site) with the header X-OPERATOR-KEY.'
      return
    }
    if (!isOperator(ctx, operatorKey)) {
      ctx.status = 401
      ctx.set('www-authenticate', 'Basic realm="Tollgate operator: any name, the operator key as password"')
      ctx.body = 'The queue board needs the operator key: header X-OPERATOR-KEY, or the password when the browser asks.'
      return
    }
    if (!isRead(ctx.method))
      life.log.info({ method: ctx.method, path: ctx.path, address: ctx.ip }, 'the operator changes a queue by its board')
    for (let shard = 0; shard < ingestionShards; shard++) show(ingestionShard(shard).queue)
    for (const name of sharedQueues) show(name)
    const all = await environments.list()
    for (const { id, hasPersistentCache } of all) if (hasPersistentCache) show(environmentQueue(id).queue)
    for (const name of await existing(all.map(({ id }) => ingestDirectUsage(id).queue))) show(name)
    await serve(ctx as Parameters<typeof serve>[0], next)
    if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(foreignFonts, '')
  }
}

/** The key in `X-OPERATOR-KEY`, or as the password of HTTP basic, which is what a browser can send. */
function isOperator(ctx: Context, operatorKey: Secret): boolean {
  const [, encoded = ''] = /^Basic (.+)$/i.exec(ctx.get('authorization')) ?? []
  const password = Buffer.from(encoded, 'base64').toString('utf8').split(':').slice(1).join(':')
  const given = ctx.get('x-operator-key') || password
  // Digests have one length, so that comparing takes the same time whatever is given.
  return timingSafeEqual(digest(given), digest(operatorKey.reveal()))
}

const digest = (text: string) => createHash('sha256').update(text).digest()
