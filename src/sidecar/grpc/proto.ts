import { fileURLToPath } from 'node:url'
import { loadSync, type MessageTypeDefinition, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { maxItemsPerCall } from '../../metering/model/report.js'
import { countFields } from './item-count.js'

/**
 * The published interface, loaded from `proto/` once at start. Field names are those of the .proto files; enums are numbers; fields
 * without presence are always there, as their zero when they were not sent.
 */

const protoFolder = fileURLToPath(new URL('../../../../proto', import.meta.url))

export const serviceName = 'service.sidecar.v1.SidecarService'

/** Everything a client may see through reflection. */
export const sidecarPackage: PackageDefinition = loadSync('service/sidecar/v1/sidecar.proto', {
  includeDirs: [protoFolder],
  keepCase: true,
  longs: Number,
  defaults: true,
})

const messageOf = (definitions: PackageDefinition, name: string) => definitions[name] as MessageTypeDefinition<object, object>

/** Encodes the entitlement messages; the cache keeps the bytes. */
export const encodeEntitlement = {
  boolean: messageOf(sidecarPackage, 'service.sidecar.v1.BooleanEntitlement').serialize,
  numeric: messageOf(sidecarPackage, 'service.sidecar.v1.NumericEntitlement').serialize,
  metered: messageOf(sidecarPackage, 'service.sidecar.v1.MeteredEntitlement').serialize,
  enum: messageOf(sidecarPackage, 'service.sidecar.v1.EnumEntitlement').serialize,
}

interface ErrorCodec {
  status: (message: object) => Buffer
  errorInfo: (message: object) => Buffer
  badRequest: (message: object) => Buffer
}

let loadedErrors: ErrorCodec | undefined

/** Encodes the details of errors. Read at the first error: most sidecars see none in their first second. */
export function errorCodec(): ErrorCodec {
  if (loadedErrors) return loadedErrors
  const files = ['google/rpc/status.proto', 'google/rpc/error_details.proto']
  const definitions = loadSync(files, { includeDirs: [protoFolder], keepCase: true })
  loadedErrors = {
    status: messageOf(definitions, 'google.rpc.Status').serialize,
    errorInfo: messageOf(definitions, 'google.rpc.ErrorInfo').serialize,
    badRequest: messageOf(definitions, 'google.rpc.BadRequest').serialize,
  }
  return loadedErrors
}

/** The lists that are sent, by method. */
const listOf: Readonly<Record<string, 'usages' | 'events'>> = { ReportUsageBulk: 'usages', ReportEvents: 'events' }

/** A list that is too long is not decoded: it has that length, and nothing in it. */
function deserializer(method: string, { requestDeserialize: decode }: ServiceDefinition[string]): (bytes: Buffer) => object {
  const list = listOf[method]
  if (list === undefined) return decode
  return (bytes) => {
    const length = countFields(bytes, maxItemsPerCall)
    return length > maxItemsPerCall ? { [list]: new Array(length) } : decode(bytes)
  }
}

/** The service under a fully qualified name, with answers that may be bytes already (see `encoding.ts`): those are sent as they are. */
export const serviceNamed = (name: string): ServiceDefinition =>
  Object.fromEntries(
    Object.entries(sidecarPackage[serviceName] as ServiceDefinition).map(([method, definition]) => [
      method,
      {
        ...definition,
        path: `/${name}/${method}`,
        requestDeserialize: deserializer(method, definition),
        responseSerialize: (answer: object) => (Buffer.isBuffer(answer) ? answer : definition.responseSerialize(answer)),
      },
    ]),
  )
