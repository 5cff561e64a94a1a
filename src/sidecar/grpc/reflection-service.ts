import { createRequire } from 'node:module'
import type { handleBidiStreamingCall, Server, ServiceDefinition, UntypedHandleCall } from '@grpc/grpc-js'
import { ofNames } from './proto.js'
import { reflectedPackage } from './reflection.js'

/** The two versions of the service that tools ask for. */
const methodPaths = ['v1', 'v1alpha'].map((version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`)

interface LoadedMethod {
  requestDeserialize: (bytes: Buffer) => unknown
  responseSerialize: (message: unknown) => Buffer
  handle: handleBidiStreamingCall<unknown, unknown>
}

let loaded: Map<string, LoadedMethod> | undefined

/**
 * Adds server reflection. It is for tools and for the hands of developers, so what it takes (4 MB) is loaded when the first of them asks, and not by every
 * sidecar that starts.
 */
export function addReflection(server: Server): void {
  for (const path of methodPaths) {
    const method = () => {
      loaded ??= load()
      return loaded.get(path)!
    }
    const definition = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: unused,
      requestDeserialize: (bytes: Buffer) => method().requestDeserialize(bytes),
      responseSerialize: (message: unknown) => method().responseSerialize(message),
      responseDeserialize: unused,
    }
    const handle: LoadedMethod['handle'] = (call) => method().handle(call)
    server.addService(ofNames({ ServerReflectionInfo: definition }), { ServerReflectionInfo: handle as UntypedHandleCall })
  }
}

/** What the library would add to a server. */
function load(): Map<string, LoadedMethod> {
  const { ReflectionService } = createRequire(import.meta.url)('@grpc/reflection') as typeof import('@grpc/reflection')
  const methods = new Map<string, LoadedMethod>()
  const collector = {
    addService(service: ServiceDefinition, handlers: Record<string, LoadedMethod['handle']>) {
      for (const [name, { path, originalName = name, requestDeserialize, responseSerialize }] of Object.entries(service))
        methods.set(path, { requestDeserialize, responseSerialize, handle: (handlers[name] ?? handlers[originalName])! })
    },
  }
  new ReflectionService(reflectedPackage()).addToServer(collector as never)
  return methods
}

function unused(): never {
  throw new Error('a server does not speak as a client')
}
