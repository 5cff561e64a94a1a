import { fileURLToPath } from 'node:url'
import { loadSync, type MessageTypeDefinition, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'

/**
 * The published interface, loaded from `proto/` once at start. Field names are those of the .proto files; enums are numbers; fields
 * without presence are always there, as their zero when they were not sent.
 */

const protoFolder = fileURLToPath(new URL('../../../proto', import.meta.url))

export const serviceName = 'service.sidecar.v1.SidecarService'

/** Everything a client may see through reflection. */
export const sidecarPackage: PackageDefinition = loadSync('service/sidecar/v1/sidecar.proto', {
  includeDirs: [protoFolder],
  keepCase: true,
  longs: Number,
  defaults: true,
})

const errorPackage = loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], { includeDirs: [protoFolder], keepCase: true })

const messageOf = (definitions: PackageDefinition, name: string) => definitions[name] as MessageTypeDefinition<object, object>

/** Encodes the entitlement messages; the cache keeps the bytes. */
export const encodeEntitlement = {
  boolean: messageOf(sidecarPackage, 'service.sidecar.v1.BooleanEntitlement').serialize,
  numeric: messageOf(sidecarPackage, 'service.sidecar.v1.NumericEntitlement').serialize,
  metered: messageOf(sidecarPackage, 'service.sidecar.v1.MeteredEntitlement').serialize,
  enum: messageOf(sidecarPackage, 'service.sidecar.v1.EnumEntitlement').serialize,
}

export const encodeStatus = messageOf(errorPackage, 'google.rpc.Status').serialize
export const encodeErrorInfo = messageOf(errorPackage, 'google.rpc.ErrorInfo').serialize
export const encodeBadRequest = messageOf(errorPackage, 'google.rpc.BadRequest').serialize

/** The service with answers that may be bytes already (see `encoding.ts`): those are sent as they are. */
export const sidecarService: ServiceDefinition = Object.fromEntries(
  Object.entries(sidecarPackage[serviceName] as ServiceDefinition).map(([method, definition]) => [
    method,
    {
      ...definition,
      responseSerialize: (answer: object) => (Buffer.isBuffer(answer) ? answer : definition.responseSerialize(answer)),
    },
  ]),
)
