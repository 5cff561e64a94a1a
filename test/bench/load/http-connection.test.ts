import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { HttpConnection, postRequest } from './http-connection.js'

describe('the connection that makes the load', () => {
  let server: Server
  let connection: HttpConnection
  let connections = 0
  let answer: (socket: Socket) => void = () => undefined
  const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const request = postRequest('/graphql', { 'x-api-key': 'key' }, '{"é":1}')

  beforeEach(async () => {
    connections = 0
    server = createServer((socket) => {
      connections += 1
      socket.on('data', () => answer(socket))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    connection = new HttpConnection(`http://127.0.0.1:${(server.address() as { port: number }).port}`)
  })
  afterEach(() => {
    connection.close()
    server.close()
  })

  it('sends the length in bytes, and puts an answer in pieces together', async () => {
    expect(request.toString()).to.match(/^POST \/graphql HTTP\/1.1\r\n[\s\S]+x-api-key: key\r\ncontent-length: 8\r\n\r\n\{"é":1\}$/)
    answer = (socket) => {
      const bytes = Buffer.from(ok('"é" as it is'))
      socket.write(bytes.subarray(0, 20))
      setImmediate(() => socket.write(bytes.subarray(20, bytes.indexOf('é') + 1)))
      setTimeout(() => socket.write(bytes.subarray(bytes.indexOf('é') + 1)), 5)
    }
    expect(await connection.send(request)).to.equal('"é" as it is')
    expect(await connection.send(request)).to.equal('"é" as it is')
    expect(connections).to.equal(1)
  })

  it('connects again when the server has closed what was idle', async () => {
    let closed: Promise<unknown> = Promise.resolve()
    answer = (socket) => {
      closed = once(socket, 'close')
      socket.end(ok('1'))
    }
    expect(await connection.send(request)).to.equal('1')
    await closed
    await new Promise(setImmediate)
    expect(await connection.send(request)).to.equal('1')
    expect(connections).to.equal(2)
  })

  it('fails when the connection is closed instead of an answer', async () => {
    answer = (socket) => socket.destroy()
    const error = await connection.send(request).catch((thrown: unknown) => thrown)
    expect(error).to.include({ reason: 'CONNECTION_LOST' })
  })
})
