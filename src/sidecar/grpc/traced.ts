import {
  type Metadata,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { inSpan, isTracing, readContext } from '../../platform/context/tracing.js'
import { serviceName } from './proto.js'

type Unary = (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) => void

/** The handlers, each answering as a part of the trace that its call comes from; the same ones while there are no traces. */
export function tracedHandlers(handlers: UntypedServiceImplementation): UntypedServiceImplementation {
  if (!isTracing()) return handlers
  return Object.fromEntries(Object.entries(handlers).map(([method, handle]) => [method, traced(method, handle as Unary)]))
}

function traced(method: string, handle: Unary): Unary {
  const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': `${serviceName}/${method}` }
  return (call, callback) => {
    const parent = readContext(contextIn(call.metadata))
    void inSpan({ name: `${serviceName}/${method}`, kind: 'server', attributes, parent }, (span) => {
      // The span ends with the answer, and whatever is done for it is within.
      return new Promise<void>((resolve) => {
        handle(call, (error, ...answer) => {
          const code = status[error ? ((error as ServiceError).code ?? status.UNKNOWN) : status.OK]!
          span?.set({ 'rpc.response.status_code': code })
          if (error) span?.fail(code)
          callback(error, ...answer)
          resolve()
        })
      })
    })
  }
}

const contextIn = (metadata: Metadata) => ({ traceparent: metadata.get('traceparent')[0], tracestate: metadata.get('tracestate')[0] })
