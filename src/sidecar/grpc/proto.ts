import { fileURLToPath } from 'node:url'
import type { ServiceDefinition as ServedService } from '@grpc/grpc-js'
import { loadSync, type MessageTypeDefinition, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { maxItemsPerCall } from '../../metering/model/report.js'
import { countFields, largestNameBytes, maxFields, type Scalar, type Shape, scalars } from './field-count.js'

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

/** What the loader says of a message. */
export interface DescribedMessage {
  name: string
  field: Array<{ number: number; label: string; type: string; typeName: string }>
  nestedType: DescribedMessage[]
}

const scalarOfType: Readonly<Record<string, Scalar>> = {
  TYPE_BOOL: scalars.shortVarint,
  TYPE_DOUBLE: scalars.fixed64,
  TYPE_ENUM: scalars.shortVarint,
  TYPE_INT32: scalars.shortVarint,
  TYPE_INT64: scalars.varint,
  TYPE_STRING: scalars.text,
}

/** Messages nest nothing but the entries of their maps. */
export function shapeOf({ name, field: fields, nestedType: entries }: DescribedMessage): Shape {
  return new Map(
    fields.map(({ number, label, type, typeName }): [number, Scalar | Shape] => {
      if (type === 'TYPE_MESSAGE') {
        const entry = entries.find((nested) => nested.name === typeName)
        const described = sidecarPackage[`service.sidecar.v1.${typeName}`] ?? sidecarPackage[typeName]
        return [number, shapeOf(entry ?? (described!.type as DescribedMessage))]
      }
      const scalar = scalarOfType[type]
      // Numbers that are repeated come packed.
      if (scalar === undefined || (label === 'LABEL_REPEATED' && scalar !== scalars.text))
        throw new Error(`field ${number} of ${name} is of a kind that is not counted yet`)
      return [number, scalar]
    }),
  )
}

/** The message of a list as one that has nothing in its items. */
const listShape: Shape = new Map([[1, scalars.text]])

/** A request that has too much in it is not decoded: in its place stands the problem, see `accepted`. */
function deserializer(method: string, { requestType, requestDeserialize: decode }: ServiceDefinition[string]): (bytes: Buffer) => object {
  const list = listOf[method]
  const shape = shapeOf(requestType.type as DescribedMessage)
  const most = method.startsWith('Report') ? maxFields.usage : maxFields.question
  return (bytes) => {
    try {
      if (list !== undefined && countFields(bytes, listShape, maxItemsPerCall) > maxItemsPerCall)
        return invalidInput(`${list} has more than ${maxItemsPerCall} items: send several calls`, { path: list })
      // A field has two bytes at least.
      if (bytes.length > 2 * most && countFields(bytes, shape, most) > most)
        return invalidInput(
          `the request has more than ${most} fields, those of its items, dimensions and values among them: send less at once`,
        )
    } catch (error) {
      return Problem.from(error)
    }
    return decode(bytes)
  }
}

/** The request of a call. @throws INVALID_ARGUMENT when it has too much in it */
export function accepted<Request>({ request }: { request: Request }): Request {
  if (request instanceof Problem) throw request
  return request
}

/** A service that is asked by names: what is larger is not decoded, and its call ends with INTERNAL. */
export const ofNames = (service: ServedService): ServedService =>
  Object.fromEntries(
    Object.entries(service).map(([method, definition]) => [
      method,
      {
        ...definition,
        requestDeserialize: (bytes: Buffer) => {
          if (bytes.length > largestNameBytes) throw new RangeError('the request is too large')
          return definition.requestDeserialize(bytes)
        },
      },
    ]),
  )

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
