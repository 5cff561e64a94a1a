/** The two doors as a host application uses them: GraphQL over HTTP and the sidecar over gRPC. A call fails when its deadline passes. */
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { sidecarPackage } from '../../sidecar/proto.js';
const defaultDeadlineMs = 10_000;
export class GraphqlClient {
    url;
    apiKey;
    constructor(url, apiKey) {
        this.url = url;
        this.apiKey = apiKey;
    }
    /** The `data` of the answer. Fails with the first error's code and message, as in "Timeout: …". */
    async call(query, variables = {}, deadlineMs = defaultDeadlineMs) {
        const response = await fetch(`${this.url}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-api-key': this.apiKey },
            body: JSON.stringify({ query, variables }),
            signal: AbortSignal.timeout(deadlineMs),
        });
        const { data, errors } = (await response.json());
        const [error] = errors ?? [];
        if (error)
            throw new Error(`${error.extensions?.code ?? 'error'}: ${error.message}`);
        return data;
    }
}
/** Field names are those of the .proto; enums are numbers. */
export class SidecarClient {
    #client;
    constructor(address) {
        const { service } = loadPackageDefinition(sidecarPackage);
        this.#client = new service.sidecar.v1.SidecarService(address, credentials.createInsecure());
    }
    call(method, request, deadlineMs = defaultDeadlineMs) {
        return new Promise((resolve, reject) => {
            this.#client[method].call(this.#client, request, { deadline: Date.now() + deadlineMs }, (error, answer) => error ? reject(error) : resolve(answer));
        });
    }
    close() {
        this.#client.close();
    }
}
//# sourceMappingURL=clients.js.map