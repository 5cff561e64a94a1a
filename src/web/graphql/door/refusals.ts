import type { GraphqlRequest } from './request.js'

/** What is wrong with a request that is refused by its method or headers, and how it is sent right. */
export function explainRefusal(status: number, { method, headers }: Pick<GraphqlRequest, 'method' | 'headers'>): string {
  const type = headers['content-type']
  switch (status) {
    case 405:
      return method === 'GET'
        ? 'Only queries are answered by GET: send everything else as JSON with POST.'
        : `${method} is not answered here: send the operation as JSON with POST.`
    case 406:
      return `The answer is JSON, which the header accept: ${headers.accept} does not allow: leave it out, or send accept: application/json.`
    case 415:
      return `The body must be sent as JSON, and say so: the header content-type: application/json is missing${type ? `, ${type} was sent` : ''}. With curl: -H 'content-type: application/json'.`
    default:
      return 'This is not a GraphQL request: send {"query": "…"} as JSON with POST.'
  }
}
