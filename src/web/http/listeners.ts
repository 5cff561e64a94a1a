import type { Server } from 'node:http'
import { createServer, type Server as NetServer } from 'node:net'
import { listen, listenError } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'

/**
 * Node takes one connection of a listener in a round of the event loop, in the order in which they came. With one listener a thousand connections of one
 * caller keep a newcomer waiting for a thousand rounds; the system spreads what comes over all that share the port.
 */
const listeners = 16

/** Has the server listen by several listeners on one port, and answers the port. Fails as `listen`. */
export async function listenWidely(server: Server, life: Life, { port, host }: { port: number; host: string }): Promise<number> {
  // Only here systems are known to spread connections evenly.
  if (process.platform !== 'linux') return listen(server, { port, host })
  const taken = await findFree(port, host)
  const others = Array.from({ length: listeners - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  )
  for (const one of [server, ...others]) await share(one, taken, host)
  life.onStop('listeners', async () => {
    await Promise.all(others.map((one) => new Promise((resolve) => one.close(resolve))))
  })
  return taken
}

/** Who shares a port is not told that somebody has it already: another process may be sharing it. */
async function findFree(port: number, host: string): Promise<number> {
  const probe = createServer()
  const taken = await listen(probe, { port, host })
  await new Promise((resolve) => probe.close(resolve))
  return taken
}

function share(one: NetServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port))
    one.once('error', fail)
    one.listen({ port, host, reusePort: true }, () => {
      one.off('error', fail)
      resolve()
    })
  })
}
