import { randomBytes, scrypt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { maxBodyBytes, Sender } from '../../../src/notifications/webhooks/attempt.js'
import { byNameServers } from '../../../src/notifications/webhooks/resolve.js'

describe('an attempt', function () {
  this.timeout(30_000)
  let sender: Sender
  let server: Server

  beforeEach(() => {
    sender = new Sender({ targets: 'loopback too' })
  })
  afterEach(() => {
    sender.close()
    server?.closeAllConnections()
    server?.close()
  })

  const urlOf = async (answer: RequestListener): Promise<string> => {
    server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://localhost:${(server.address() as AddressInfo).port}/hooks`
  }

  it('takes a body of 256 KB, and sends nothing of a larger one', async () => {
    const lengths: number[] = []
    const url = await urlOf(async (request, response) => {
      let length = 0
      for await (const chunk of request) length += (chunk as Buffer).length
      lengths.push(length)
      response.writeHead(204).end()
    })
    expect(maxBodyBytes).to.equal(262_144)
    expect(await sender.send(url, {}, 'x'.repeat(maxBodyBytes))).to.include({ statusCode: 204, error: null })
    // Bytes count, not characters.
    for (const body of ['x'.repeat(maxBodyBytes + 1), 'ä'.repeat(maxBodyBytes / 2 + 1)])
      expect(await sender.send(url, {}, body)).to.include({
        statusCode: null,
        error: 'the body has more than 262144 bytes',
        isHopeless: true,
      })
    expect(lengths).to.deep.equal([maxBodyBytes])
  })

  const answers: Record<string, string> = {
    'switches to another protocol': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n',
    'is of no protocol': 'hello\r\n\r\n',
    'ends in its headers': 'HTTP/1.1 200 OK\r\ncontent-le',
    'has headers without end': `HTTP/1.1 200 OK\r\n${'x-filler: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(2_000)}`,
    'has two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  }
  for (const [what, bytes] of Object.entries(answers))
    it(`ends at once with an answer that ${what}`, async () => {
      const url = await urlOf((request) => void request.socket.end(bytes))
      const startedAt = performance.now()
      const outcome = await sender.send(url, {}, '{}')
      expect(outcome.statusCode).to.equal(null)
      expect(outcome.error).to.match(/^no connection \(\w+\)$/)
      expect(performance.now() - startedAt).to.be.below(5_000)
    })

  it('reads the status of an answer that is cut off in its body', async () => {
    const url = await urlOf((request) => void request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin'))
    expect(await sender.send(url, {}, '{}')).to.include({ statusCode: 200, response: 'begin', error: null })
  })

  it('ends when its time is over, whatever the answer begins with', async () => {
    const url = await urlOf((_request, response) => {
      // Informational answers are no answer, however many come.
      const timer = setInterval(() => response.writeProcessing(), 50)
      response.on('close', () => clearInterval(timer))
    })
    const cut = AbortSignal.timeout(700)
    expect(await sender.send(url, {}, '{}', cut)).to.include({ statusCode: null })
  })

  it('that waits for a name server holds up nothing else of the process', async () => {
    const silent = createSocket('udp4')
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve))
    const resolve = byNameServers([`127.0.0.1:${silent.address().port}`])
    const waiting = new Sender({ targets: 'public', resolve })
    const cut = new AbortController()
    const attempts = Array.from({ length: 40 }, (_, n) => waiting.send(`https://silent-${n}.example.com/`, {}, '{}', cut.signal))
    const startedAt = performance.now()
    // As everything that has no thread of its own: files, digests of passwords, names of the system.
    await promisify(scrypt)(randomBytes(8), 'salt', 16)
    expect(performance.now() - startedAt).to.be.below(2_000)
    cut.abort()
    for (const outcome of await Promise.all(attempts)) expect(outcome.statusCode).to.equal(null)
    expect(performance.now() - startedAt).to.be.below(3_000)
    waiting.close()
    silent.close()
  })
})
