import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Life } from '../../../../src/platform/process.js'
import { listenWidely } from '../../../../src/web/http/listeners.js'

const host = '127.0.0.1'

describe('the listeners of a web process', () => {
  const open = async (port = 0) => {
    const life = new Life('web', silentLogger())
    const server = createServer((_, response) => response.end('answered'))
    life.onStop('http server', () => new Promise<void>((resolve) => server.close(() => resolve())))
    const taken = await listenWidely(server, life, { port, host }).catch(async (error: unknown) => {
      await life.stop()
      throw error
    })
    return { life, server, port: taken }
  }

  it('take many connections in a round of the event loop, and hand all of them to one server', async () => {
    const { life, server, port } = await open()
    const taken: Socket[] = []
    server.on('connection', (socket: Socket) => taken.push(socket))
    const callers = Array.from({ length: 120 }, () => connect(port, host))
    await Promise.all(callers.map((caller) => once(caller, 'connect')))
    let rounds = 0
    while (taken.length < 120) {
      await setImmediate()
      rounds += 1
    }
    expect(rounds).to.be.below(60)
    for (const caller of callers) caller.destroy()
    const [response] = await once(get({ host, port, agent: false }), 'response')
    expect(response.statusCode).to.equal(200)
    response.resume()
    await life.stop()
    expect(await once(connect(port, host), 'connect').catch(({ code }) => code)).to.equal('ECONNREFUSED')
  })

  it('are refused a port that somebody has, also one that would share it', async () => {
    const other = createNetServer().listen(0, host)
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect(await open(port).catch(({ message }) => message)).to.match(/^port \d+ on 127\.0\.0\.1 is already in use/)
    other.close()
    const { life, port: shared } = await open()
    expect(await open(shared).catch(({ message }) => message)).to.match(/is already in use/)
    await life.stop()
  })
})
