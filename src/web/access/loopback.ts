import type { IncomingMessage } from 'node:http'

/**
 * Whether a request comes from a program on this machine that means this machine: over loopback, to a name of loopback (a page from elsewhere that has its own
 * name resolve to here sends that name), and not through a proxy, which would be on this machine for everybody.
 */
export function isFromThisMachine({
  headers,
  socket: { remoteAddress = '' },
}: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string } }): boolean {
  const isProxied = Object.keys(headers).some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'))
  const isLoopback = remoteAddress === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(remoteAddress)
  return isLoopback && !isProxied && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(headers.host ?? '')
}
