import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a change comes from a page of ours, or from a program: a browser adds its credentials to what any page has it send, and says of which. Behind a
 * proxy the name of this server is in X-Forwarded-Host, which no page can have sent.
 *
 * `hasOwnHeader`: the caller proved itself by a header that only a program, or a page of ours, can send.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders, { hasOwnHeader }: { hasOwnHeader: boolean }): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  if (origin === undefined) return hasOwnHeader
  if (!URL.canParse(origin)) return false
  const names = [headers.host, headers['x-forwarded-host']].filter((name) => typeof name === 'string')
  return names.includes(new URL(origin).host)
}

/** Methods by which nothing changes. */
export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
