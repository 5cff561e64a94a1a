import type { Server } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { expect } from 'chai'
import { createHealthServer, headLimits, maxHealthConnections } from '../../../src/platform/health.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Registry } from '../../../src/platform/metrics.js'
import { Life } from '../../../src/platform/process.js'
import { eventually } from '../../support/eventually.js'

describe('the port of health', () => {
  const sockets: Socket[] = []
  let server: Server
  let metrics: Registry

  beforeEach(async () => {
    metrics = new Registry()
    server = createHealthServer({ ready: () => ({ status: 'UP' }), metrics })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  /** A connection that has sent so much and closes only when the server does. */
  const open = async (sent: string) => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
    sockets.push(socket)
    socket.on('error', () => undefined)
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    socket.write(sent)
    return socket
  }
  const connections = () => new Promise<number>((resolve, reject) => server.getConnections((e, count) => (e ? reject(e) : resolve(count))))

  it('has so many places, and whoever holds all of them keeps no probe out', async () => {
    for (let n = 0; n < maxHealthConnections + 20; n++) await open('GET /livez HTTP/1.1\r\nhost: t\r\n')
    await eventually('the oldest to make room', () => sockets.filter(({ destroyed }) => destroyed).length >= 20)
    expect(sockets.slice(0, 20).every(({ destroyed }) => destroyed)).to.equal(true)
    expect(await connections()).to.be.at.most(maxHealthConnections)
    expect((await fetch(`${url()}/livez`, { headers: { connection: 'close' } })).status).to.equal(200)
  })

  it('has no more of them when many come in one round, before any is said to have closed', () => {
    const many = Array.from({ length: 3 * maxHealthConnections }, () => new Socket())
    for (const socket of many) server.emit('connection', socket)
    sockets.push(...many)
    expect(many.map(({ destroyed }) => destroyed).lastIndexOf(true)).to.equal(2 * maxHealthConnections - 1)
    expect(many.filter(({ destroyed }) => destroyed)).to.have.length(2 * maxHealthConnections)
  })

  it('cuts off who never finishes a head, or a body', async () => {
    expect([server.headersTimeout, server.requestTimeout]).to.deep.equal([headLimits.headersTimeout, headLimits.requestTimeout])
    // What the numbers are is not waited for: that they are looked at every second is.
    server.headersTimeout = server.requestTimeout = 100
    for (const sent of ['', 'GET /readyz HTTP/1.1\r\nhost: t\r\n', 'POST /nope HTTP/1.1\r\nhost: t\r\ncontent-length: 10\r\n\r\n123']) {
      const socket = await open(sent)
      // What it is told of that has to be read.
      socket.resume()
      await eventually(`it to be cut off after ${sent.length} characters`, () => socket.destroyed)
    }
  }).timeout(65_000)

  it('cuts off who reads no answer', async () => {
    expect(server.timeout).to.equal(20_000)
    server.timeout = 200
    metrics.metrics = async () => 'x'.repeat(30_000_000)
    const socket = await open('GET /metrics HTTP/1.1\r\nhost: t\r\n\r\n'.repeat(2))
    socket.pause()
    await eventually('its connection to be cut', async () => (await connections()) === 0)
  }).timeout(25_000)

  it('makes one text of metrics for all who ask meanwhile', async () => {
    let made = 0
    let give!: (text: string) => void
    metrics.metrics = () => {
      made += 1
      return new Promise((resolve) => (give = resolve))
    }
    const asked = Promise.all(Array.from({ length: 5 }, async () => (await fetch(`${url()}/metrics`)).text()))
    await eventually('all to ask', async () => (await connections()) === 5)
    await fetch(`${url()}/livez`)
    give('text')
    // Who came late has one of its own.
    const late = setInterval(() => give('text'), 20)
    expect(await asked).to.deep.equal(Array(5).fill('text'))
    clearInterval(late)
    expect(made).to.be.below(5)
  })

  it('asks what the process needs once a second, however many ask, and says at once that it stops', async () => {
    const life = new Life('worker', silentLogger())
    let asked = 0
    life.readyWhen(() => {
      asked += 1
      return { status: 'UP', asked }
    })
    const port = await life.serveHealth({ port: 0, host: '127.0.0.1' })
    const answers: number[] = []
    const startedAt = performance.now()
    for (let n = 0; n < 50; n++) answers.push((await fetch(`http://127.0.0.1:${port}/readyz`)).status)
    expect(asked).to.be.at.most(1 + (performance.now() - startedAt) / 1_000)
    expect(new Set(answers)).to.deep.equal(new Set([200]))
    await eventually('it to be asked again', async () => {
      await fetch(`http://127.0.0.1:${port}/readyz`)
      return asked > 1
    })
    const stopping = life.stop()
    expect((await life.recentReadiness()).status).to.equal('DOWN')
    expect(await stopping).to.deep.equal([])
  })
})
