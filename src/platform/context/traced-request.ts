import type { IncomingMessage, ServerResponse } from 'node:http'
import { inSpan, isTracing, readContext } from './tracing.js'

/** Answers a request of the API as a part of the trace that it comes from, or of a new one. Its address may name customers: the span tells only `route`. */
export function tracedRequest<T>(route: string, request: IncomingMessage, response: ServerResponse, answer: () => Promise<T>): Promise<T> {
  if (!isTracing()) return answer()
  const { method = 'GET' } = request
  const attributes = { 'http.request.method': method, 'http.route': route }
  return inSpan({ name: `${method} ${route}`, kind: 'server', attributes, parent: readContext(request.headers) }, async (span) => {
    try {
      return await answer()
    } finally {
      span?.set({ 'http.response.status_code': response.statusCode })
      if (response.statusCode >= 500) span?.fail(String(response.statusCode))
    }
  })
}
