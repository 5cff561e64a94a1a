import type { Middleware } from 'koa'

/** Headers that clients send from browsers, besides those that begin with `x-`, which every client may make up. */
const allowedHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'apollographql-client-name',
  'apollographql-client-version',
  'content-language',
  'content-type',
  'source',
  'traceparent',
  'tracestate',
])

const isAllowed = (name: string) => allowedHeaders.has(name) || /^x-[\w.-]+$/.test(name)

/** Of every answer. No cookie is ever read, so the answer is the same for all pages. */
export const openToBrowsers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, retry-after, x-trace-id',
} as const

/** Any page may call: what it may do is decided by its key, and no cookie is ever read. */
export const allowBrowsers: Middleware = async (ctx, next) => {
  ctx.set(openToBrowsers)
  if (ctx.method !== 'OPTIONS') return next()
  const asked = ctx.get('access-control-request-headers').toLowerCase().split(',')
  const granted = asked.map((name) => name.trim()).filter(isAllowed)
  ctx.set('access-control-allow-methods', 'GET, POST, OPTIONS')
  ctx.set('access-control-allow-headers', (granted.length > 0 ? granted : [...allowedHeaders]).join(', '))
  ctx.set('access-control-max-age', '86400')
  ctx.status = 204
}
