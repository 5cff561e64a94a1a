import { expect } from 'chai'
import { WebSocket } from 'ws'

/** A client as deployed ones speak: messages wait in a list until they are asked for. */
export class TestClient {
  readonly socket: WebSocket
  readonly #messages: Record<string, unknown>[] = []
  #wake: () => void = () => {}

  constructor(url: string, options: { localAddress?: string } = {}) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', options)
    // What a test expects of a socket that fails, it sees by its close.
    this.socket.on('error', () => {})
    this.socket.on('message', (text) => {
      this.#messages.push(JSON.parse(String(text)))
      this.#wake()
    })
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  async next(): Promise<Record<string, unknown>> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#messages.shift()!
  }

  /** What was sent before has been handled when this returns. */
  async settle(): Promise<void> {
    this.send({ type: 'ping' })
    expect(await this.next()).to.deep.equal({ type: 'pong' })
  }

  async subscribe(id: string, query: string): Promise<void> {
    this.send({ type: 'subscribe', id, payload: { query } })
    await this.settle()
  }
}
