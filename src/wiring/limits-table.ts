/** The limits of the platform, as its docs show them: made of what is in force, and each with the test that goes beyond it. */
import type { RateLimitOptions } from '../web/access/rate-limits.js'
import type { ConnectionLimits } from '../web/http/connections.js'
import type { SocketPlaces } from '../web/live/socket.js'
import { limitsOfContent } from './limits/content.js'
import { limitsOfRequests } from './limits/requests.js'
import type { Limit } from './limits/row.js'
import { limitsOfSockets } from './limits/sockets.js'

/** Those of one kind stand together. */
export const limitsOf = (
  limits: RateLimitOptions & ConnectionLimits & SocketPlaces & { operationTimeoutMs: number; maxWaitingJobs: number },
): Limit[] => [...limitsOfRequests(limits), ...limitsOfSockets(limits), ...limitsOfContent(limits)]

/** In Markdown, for the page that has a place for it. */
export function limitsTable(limits: readonly Limit[]): string {
  const rows = limits.map(
    ({ what, value, variable, beyond }) => `| ${what} | ${value} | ${variable ? `\`${variable}\`` : ''} | ${beyond} |`,
  )
  return ['| limit | value | set by | beyond it |', '| ----- | ----- | ------ | --------- |', ...rows].join('\n')
}
