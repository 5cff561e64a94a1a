import { createRequire } from 'node:module';
import { reflectedPackage } from './reflection.js';
/** The two versions of the service that tools ask for. */
const methodPaths = ['v1', 'v1alpha'].map((version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`);
let loaded;
/**
 * Adds server reflection. It is for tools and for the hands of developers, so what it takes (4 MB) is loaded when the first of them asks, and not by every
 * sidecar that starts.
 */
export function addReflection(server) {
    for (const path of methodPaths) {
        const method = () => {
            loaded ??= load();
            return loaded.get(path);
        };
        const definition = {
            path,
            requestStream: true,
            responseStream: true,
            requestSerialize: unused,
            requestDeserialize: (bytes) => method().requestDeserialize(bytes),
            responseSerialize: (message) => method().responseSerialize(message),
            responseDeserialize: unused,
        };
        const handle = (call) => method().handle(call);
        server.addService({ ServerReflectionInfo: definition }, { ServerReflectionInfo: handle });
    }
}
/** What the library would add to a server. */
function load() {
    const { ReflectionService } = createRequire(import.meta.url)('@grpc/reflection');
    const methods = new Map();
    const collector = {
        addService(service, handlers) {
            for (const [name, { path, originalName = name, requestDeserialize, responseSerialize }] of Object.entries(service))
                methods.set(path, { requestDeserialize, responseSerialize, handle: (handlers[name] ?? handlers[originalName]) });
        },
    };
    new ReflectionService(reflectedPackage()).addToServer(collector);
    return methods;
}
function unused() {
    throw new Error('a server does not speak as a client');
}
//# sourceMappingURL=reflection-service.js.map