// The reference of the `sidecar` benchmark: the barest server on @grpc/grpc-js with the sidecar's messages. It decodes the request,
// looks at nothing and encodes always the same answer, whose bytes are its argument in base64.
import { fileURLToPath } from 'node:url'
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'

const protoFolder = fileURLToPath(new URL('../../../proto', import.meta.url))
const definitions = loadSync('service/sidecar/v1/sidecar.proto', { includeDirs: [protoFolder], keepCase: true, longs: Number })
const service = definitions['service.sidecar.v1.SidecarService'] as ServiceDefinition
const answer = service.GetMeteredEntitlement!.responseDeserialize(Buffer.from(process.argv[2] ?? '', 'base64'))

// Bookkeeping for a debugging tool, off in the sidecar too: it would only make the reference slower.
const server = new Server({ 'grpc.enable_channelz': 0 })
server.addService(service, {
  GetMeteredEntitlement: (_call: unknown, callback: sendUnaryData<object>) => callback(null, answer),
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, grpcPort) => {
  if (error) throw error
  process.stdout.write(`${JSON.stringify({ msg: 'listening', grpcPort })}\n`)
})
process.on('SIGTERM', () => process.exit())
