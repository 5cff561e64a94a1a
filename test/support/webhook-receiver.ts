import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Heard {
  id: string
  type: string
  order: { version: number; index: number } | null
  // biome-ignore lint/suspicious/noExplicitAny: as above
  data: any
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read as JSON
  body: any
  text: string
  headers: IncomingHttpHeaders
  url: string
  at: number
}

/** Answers a request that was heard. */
type Answer = (heard: Heard, response: ServerResponse, request: IncomingMessage) => void

const ok: Answer = (_heard, response) => void response.writeHead(204).end()

/** An endpoint of a host application. */
export class WebhookReceiver {
  readonly heard: Heard[] = []
  answer: Answer = ok
  #server = createServer((request, response) => this.#take(request, response))

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks`
  }

  /** Its requests verified as a receiver does it. @throws when one is not signed with the secret */
  verified(secret: string): Heard[] {
    for (const { text, headers } of this.heard) new Webhook(secret).verify(text, headers as Record<string, string>)
    return this.heard
  }

  types(): string[] {
    return this.heard.map(({ type }) => type)
  }

  /** Nobody listens at its address for as long as `work` takes. */
  async whileAway<T>(work: () => Promise<T>): Promise<T> {
    const { port } = this
    await this.close()
    try {
      return await work()
    } finally {
      await this.listen(port)
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const body = JSON.parse(text)
      const heard = { ...body, body, text, headers: request.headers, url: request.url!, at: performance.now() } as Heard
      this.heard.push(heard)
      this.answer(heard, response, request)
    })
  }
}
