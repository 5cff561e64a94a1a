import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a server of Sentry is sent, over HTTP on loopback. */
export interface ErrorTracker {
  dsn: string
  /** As they came: method, path and headers with the whole body. */
  requests: { method: string; path: string; headers: string; body: string }[]
  /** The events among them. */
  events(): { tags: Record<string, string>; exception: { values: ToldException[] } }[]
  close(): Promise<unknown>
}

export interface ToldException {
  type: string
  value?: string
  stacktrace?: { frames: { filename: string; function: string; lineno: number }[] }
}

export async function startErrorTracker(): Promise<ErrorTracker> {
  const requests: ErrorTracker['requests'] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method: request.method!, path: request.url!, headers: JSON.stringify(request.headers), body })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    dsn: `http://publickey@127.0.0.1:${(server.address() as AddressInfo).port}/42`,
    requests,
    // An envelope: a line about it, then of each item a line about it and the item.
    events: () => requests.map(({ body }) => JSON.parse(body.split('\n')[2]!)),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
