import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** Who is told of everything that passes, before it is passed on. */
export type Watch = (from: 'client' | 'server', data: Buffer) => void

/** A way to a server that can be cut, made to hang or to take long, or led elsewhere. */
export class TcpProxy {
  #state: 'open' | 'cut' | 'frozen' | 'deaf' = 'open'
  #delayMs = 0
  readonly #pairs = new Set<[Socket, Socket]>()

  private constructor(
    private readonly server: Server,
    private target: URL,
    public watch: Watch | null,
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

  /** What is sent from now on arrives so much later. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Keeps every connection, and lets nothing come from the server any more: not on those that are open, nor on new ones. */
  deafen(): void {
    this.#state = 'deaf'
    for (const [, server] of this.#pairs) server.unpipe()
  }

  mend(): void {
    this.#state = 'open'
    this.#delayMs = 0
  }

  /** Where the connections lead that are made from now on. */
  leadTo(url: string): void {
    this.target = new URL(url)
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
    client.on('data', (data) => this.watch?.('client', data))
    server.on('data', (data) => this.watch?.('server', data))
    if (this.#state !== 'deaf') server.pipe(this.#line()).pipe(client)
    if (this.#state !== 'frozen') client.pipe(this.#line()).pipe(server)
  }

  /** Passes on what it is given in its order, when its time has come. */
  #line(): Transform {
    const waiting: { due: number; data: Buffer }[] = []
    let passedAll = () => {}
    const passOn = () => {
      while (waiting[0] && waiting[0].due <= performance.now()) line.push(waiting.shift()!.data)
      if (waiting[0]) setTimeout(passOn, Math.ceil(waiting[0].due - performance.now()))
      else passedAll()
    }
    const line = new Transform({
      transform: (data: Buffer, _, done) => {
        if (this.#delayMs === 0 && waiting.length === 0) return done(null, data)
        waiting.push({ due: performance.now() + this.#delayMs, data })
        if (waiting.length === 1) setTimeout(passOn, this.#delayMs)
        done()
      },
      flush: (done) => {
        if (waiting.length === 0) done()
        else passedAll = done
      },
    })
    return line
  }
}
