// The least that can stand where the platform stands: reads what it is sent, keeps nothing of it, and answers nothing worth having. Over HTTP, WebSocket
// and gRPC.
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

const maxBodyBytes = 5 * 1024 * 1024
const maxMessageBytes = 256 * 1024
const maxBufferedBytes = 1024 * 1024

const http = createServer((request, response) => {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBodyBytes) request.destroy()
  })
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 }).end('{}'))
  request.on('error', () => undefined)
})

const sockets = new WebSocketServer({ server: http, maxPayload: maxMessageBytes })
sockets.on('connection', (socket) => {
  const cutOff = () => {
    if (socket.bufferedAmount > maxBufferedBytes) socket.terminate()
  }
  socket.on('error', () => undefined)
  socket.on('ping', cutOff)
  socket.on('message', (data) => {
    cutOff()
    if (String(data).includes('connection_init')) socket.send('{"type":"connection_ack"}')
  })
})

const grpc = createHttp2Server()
grpc.on('session', (session) => session.on('error', () => undefined))
grpc.on('stream', (stream) => {
  let bytes = 0
  stream.on('error', () => undefined)
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBodyBytes) stream.close()
  })
  stream.on('end', () => {
    if (!stream.destroyed) stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' }, { endStream: true })
  })
})

await Promise.all([http, grpc].map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))))
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
process.stdout.write(`${JSON.stringify({ msg: 'listening', httpPort: portOf(http), grpcPort: portOf(grpc) })}\n`)
process.on('SIGTERM', () => process.exit())
