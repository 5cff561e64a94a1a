import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Who is told of everything that passes, before it is passed on. */
export type Watch = (from: 'client' | 'server', data: Buffer) => void

/** A way to a server that can be cut, or made to hang. */
export class TcpProxy {
  #state: 'open' | 'cut' | 'frozen' | 'deaf' = 'open'
  readonly #pairs = new Set<[Socket, Socket]>()

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    private readonly watch: Watch | null,
  ) {}

  /** Leads to host and port of the URL. */
  static async start(url: string, watch: Watch | null = null): Promise<TcpProxy> {
    const server = createServer()
    const proxy = new TcpProxy(server, new URL(url), watch)
    server.on('connection', (client) => proxy.#join(client))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  /** Breaks every connection, and those to come. */
  cut(): void {
    this.#state = 'cut'
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  /** Keeps every connection and carries nothing any more. */
  freeze(): void {
    this.#state = 'frozen'
    for (const [client] of this.#pairs) client.unpipe()
  }

  /** Keeps every connection, and lets nothing come from the server any more: not on those that are open, nor on new ones. */
  deafen(): void {
    this.#state = 'deaf'
    for (const [, server] of this.#pairs) server.unpipe()
  }

  mend(): void {
    this.#state = 'open'
  }

  async stop(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.server.close(resolve))
  }

  #join(client: Socket): void {
    client.on('error', () => {})
    if (this.#state === 'cut') {
      client.destroy()
      return
    }
    const server = connect({ host: this.target.hostname, port: Number(this.target.port) })
    const pair: [Socket, Socket] = [client, server]
    this.#pairs.add(pair)
    server.on('error', () => {})
    for (const socket of pair) {
      socket.on('close', () => {
        this.#pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
    }
    if (this.watch) {
      client.on('data', (data) => this.watch!('client', data))
      server.on('data', (data) => this.watch!('server', data))
    }
    if (this.#state !== 'deaf') server.pipe(client)
    if (this.#state !== 'frozen') client.pipe(server)
  }
}
