// The reference of the `sidecar` benchmark: the barest server on @grpc/grpc-js with the sidecar's messages. It decodes the request,
// looks at nothing and encodes always the same answer. Arguments: a method and the bytes of its answer in base64, and so on.
import { fileURLToPath } from 'node:url';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
const protoFolder = fileURLToPath(new URL('../../../proto', import.meta.url));
const definitions = loadSync('service/sidecar/v1/sidecar.proto', { includeDirs: [protoFolder], keepCase: true, longs: Number });
const service = definitions['service.sidecar.v1.SidecarService'];
const [...given] = process.argv.slice(2);
// Bookkeeping for a debugging tool, off in the sidecar too: it would only make the reference slower.
const server = new Server({ 'grpc.enable_channelz': 0 });
const handlers = {};
for (let index = 0; index < given.length; index += 2) {
    const [method, bytes] = [given[index], given[index + 1]];
    const answer = service[method].responseDeserialize(Buffer.from(bytes, 'base64'));
    handlers[method] = (_call, callback) => callback(null, answer);
}
server.addService(service, handlers);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, grpcPort) => {
    if (error)
        throw error;
    process.stdout.write(`${JSON.stringify({ msg: 'listening', grpcPort })}\n`);
});
process.on('SIGTERM', () => process.exit());
//# sourceMappingURL=sidecar-reference.js.map