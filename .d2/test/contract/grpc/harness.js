import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { readConfig } from '../../../src/platform/config.js';
import { silentLogger } from '../../../src/platform/logger.js';
import { Life } from '../../../src/platform/process.js';
import { sidecarDefinition } from '../../../src/sidecar/config.js';
import { serviceName, sidecarPackage } from '../../../src/sidecar/proto.js';
import { startSidecar } from '../../../src/sidecar/start.js';
export async function runSidecar(env) {
    // Reads over GraphQL only, so that each is one operation; tests of the edge turn it on.
    const quiet = {
        EDGE_ENABLED: 'FALSE',
        BIND_ADDRESS: '127.0.0.1',
        PORT: '0',
        SIDECAR_HTTP_PORT: '0',
        SHUTDOWN_TIMEOUT_MS: '1000',
    };
    const config = readConfig(sidecarDefinition.spec, { ...quiet, ...env }, sidecarDefinition.check);
    const life = new Life('sidecar', silentLogger());
    const { grpcPort, httpPort } = await startSidecar(config, life).catch(async (error) => {
        await life.stop();
        throw error;
    });
    const client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure());
    const definition = sidecarPackage[serviceName];
    return {
        grpcPort,
        httpPort,
        call(method, request, deadlineMs = 5_000) {
            const { path, requestSerialize, responseDeserialize } = definition[method];
            return new Promise((resolve, reject) => {
                const options = { deadline: Date.now() + deadlineMs };
                client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, new Metadata(), options, (error, answer) => {
                    if (error)
                        reject(error);
                    else
                        resolve(answer);
                });
            });
        },
        async metric(name, label = '') {
            const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
            const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label));
            return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
        },
        async stop() {
            client.close();
            const failures = await life.stop();
            if (failures[0])
                throw failures[0];
        },
    };
}
export async function errorOf(call) {
    return call.then((answer) => {
        throw new Error(`expected an error, got ${JSON.stringify(answer)}`);
    }, (error) => error);
}
/** Waits for a condition, for two seconds at most unless told otherwise. */
export async function until(condition, what, withinMs = 2_000) {
    const deadline = Date.now() + withinMs;
    while (!(await condition())) {
        if (Date.now() > deadline)
            throw new Error(`waited in vain until ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
}
const rpc = loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], { includeDirs: ['proto'], keepCase: true });
const decode = (name, bytes) => rpc[`google.rpc.${name}`].deserialize(bytes);
/** What an error says beside its status: why, and which fields are to blame. */
export function detailsOf(error) {
    const status = decode('Status', error.metadata.get('grpc-status-details-bin')[0]);
    const of = (name) => status.details.find(({ type_url }) => type_url === `type.googleapis.com/google.rpc.${name}`)?.value;
    const request = of('BadRequest');
    return {
        info: decode('ErrorInfo', of('ErrorInfo')),
        violations: request ? decode('BadRequest', request).field_violations : [],
    };
}
//# sourceMappingURL=harness.js.map