import type { IncomingMessage } from 'node:http'

/** What proxies say of whom they ask for, by whatever name. */
const proxyHeader =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|(?:x-|true-|cf-)?(?:real|client|connecting|cluster-client)-ip|x-original-.+|x-envoy-.+)$/

/**
 * Whether a request comes from a program on this machine that means this machine: over loopback, to a name of loopback (a page from elsewhere that has its own
 * name resolve to here sends that name), and not through a proxy, which would be on this machine for everybody. A proxy may name this machine as the host,
 * and say nothing of itself: then it is known by HTTP/1.0, which no browser speaks.
 */
export function isFromThisMachine({
  headers,
  httpVersion,
  socket: { remoteAddress = '' },
}: Pick<IncomingMessage, 'headers' | 'httpVersion'> & { socket: { remoteAddress?: string } }): boolean {
  const isProxied = httpVersion === '1.0' || Object.keys(headers).some((name) => proxyHeader.test(name))
  const isLoopback = remoteAddress === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(remoteAddress)
  return isLoopback && !isProxied && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(headers.host ?? '')
}
