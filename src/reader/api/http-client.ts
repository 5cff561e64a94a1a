import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { inChildSpan, isTracing, traceHeaders } from '../../platform/context/tracing.js'

/** One server over kept connections. On `node:http`, which is loaded anyway: undici's pool takes 8 MB and a quarter of a second to load. */
export class HttpClient {
  readonly #base: URL
  readonly #agent: HttpAgent

  /** The path of `base` goes before that of each request. */
  constructor(
    base: string,
    private readonly limits: { connections: number; largestAnswerBytes: number },
  ) {
    this.#base = new URL(base)
    const options = { keepAlive: true, maxSockets: limits.connections }
    this.#agent = this.#base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /**
   * Fails with what the socket says, with an AbortError when the signal aborts, and with a RangeError on an answer that is too large; with Unsent where one of
   * the first two happened before there was a connection.
   */
  send(request: HttpRequest): Promise<HttpAnswer> {
    if (!isTracing()) return this.#send(request)
    const { method } = request
    // The path may name a customer.
    const attributes = {
      'http.request.method': method,
      'server.address': this.#base.hostname,
      'server.port': Number(this.#base.port) || undefined,
    }
    return inChildSpan({ name: method, kind: 'client', attributes }, async (span) => {
      const answer = await this.#send(request)
      span?.set({ 'http.response.status_code': answer.status })
      return answer
    })
  }

  async #send({ path, body, headers: given, ...request }: HttpRequest): Promise<HttpAnswer> {
    const headers = { ...given, ...traceHeaders() }
    const isSecure = this.#base.protocol === 'https:'
    const send = isSecure ? httpsRequest : httpRequest
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      let isConnected = false
      const url = { protocol: this.#base.protocol, hostname: this.#base.hostname.replace(/^\[|\]$/g, ''), port: this.#base.port }
      const sent = send({ ...url, ...request, headers, path: `${this.#base.pathname.replace(/\/$/, '')}${path}`, agent: this.#agent })
      // What is written before that is kept in this process.
      sent.once('socket', (socket) => {
        if (sent.reusedSocket || !socket.connecting) isConnected = true
        else socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true))
      })
      sent.once('response', resolve)
      sent.once('error', (error) => reject(isConnected ? error : new Unsent('nothing was sent', { cause: error })))
      sent.end(body)
    })
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > this.limits.largestAnswerBytes) response.destroy(new RangeError('the answer is too large'))
    })
    return {
      status: response.statusCode ?? 0,
      serverTime: response.headers['x-server-time'] as string | undefined,
      text: await text(response),
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Nothing of the request had left this process. `cause`: why. */
export class Unsent extends Error {
  override readonly name = 'Unsent'
}

interface HttpRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

interface HttpAnswer {
  status: number
  /** By the clock that decides there; see `clock.ts`. */
  serverTime: string | undefined
  text: string
}
