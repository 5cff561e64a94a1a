import { type ChildProcess, spawn } from 'node:child_process'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const worker = fileURLToPath(new URL('../../../../workers/queue-consumption.js', import.meta.url))

export async function listen(server: Server | HttpServer, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Waits until `ask` answers something that is `true` of `isIt`, and answers that; what was last seen is told when it never is. */
export async function eventually<T>(ask: () => Promise<T>, isIt: (answer: T) => boolean, withinMs = 10_000): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isIt(answer)) return answer
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(answer)} after ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The real process, and what it says of itself. */
export class Worker {
  output = ''
  readonly exited: Promise<number | null>

  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text) => (this.output += text))
    this.exited = new Promise((resolve) => child.once('exit', resolve))
  }

  static async start(env: Record<string, string>): Promise<Worker> {
    const port = await freePort()
    const child = spawn(process.execPath, [worker], {
      env: { PATH: process.env.PATH, BIND_ADDRESS: '127.0.0.1', PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new Worker(child, port)
  }

  /** Null while it does not listen. */
  async get(path: string): Promise<{ status: number; body: string } | null> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`).catch(() => null)
    return response && { status: response.status, body: await response.text() }
  }

  /** Everything that readiness tells. */
  async readiness(): Promise<{ http: number; status: string; consumers: number; redis: string } | null> {
    const answer = await this.get('/readyz')
    return answer && { http: answer.status, ...JSON.parse(answer.body) }
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM')
    return this.exited
  }
}

/** A way to a server that can be cut: connections break, and new ones are refused until it is mended. */
export class Line {
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  private constructor(
    private readonly to: { host: string; port: number },
    readonly port: number,
  ) {}

  static async to(host: string, port: number): Promise<Line> {
    const line = new Line({ host, port }, await freePort())
    await line.mend()
    return line
  }

  async mend(): Promise<void> {
    const server = createServer((socket) => {
      const target = connect(this.to)
      for (const [one, other] of [
        [socket, target],
        [target, socket],
      ] as const) {
        this.#sockets.add(one)
        one.on('error', () => other.destroy()).on('close', () => other.destroy())
        one.pipe(other)
      }
    })
    await listen(server, this.port)
    this.#server = server
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined))
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
    await closed
  }
}

export interface FakeApi {
  url: string
  /** What it was asked beside whether it takes the key. */
  asked: { key: unknown; path: string; query: { customerId: string; resourceId: string | null } }[]
  close(): Promise<unknown>
}

/** The platform's edge API as far as the wire shows it. `keyCheck` is given the environment that the key should be of. */
export async function fakeApi(
  port: number,
  answer: () => { status?: number; body: unknown },
  keyCheck: (environmentId: string | null) => { status?: number; body: unknown } = () => ({ body: { data: { entitlementsState: {} } } }),
): Promise<FakeApi> {
  const asked: FakeApi['asked'] = []
  const server = createHttpServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://edge')
    const customerId = decodeURIComponent(/^\/v1\/c\/(.+)\/entitlements-state\.json$/.exec(pathname)?.[1] ?? '')
    const isKeyCheck = customerId === 'key-check'
    const query = { customerId, resourceId: searchParams.get('resourceId') }
    if (!isKeyCheck && customerId) asked.push({ key: request.headers['x-api-key'], path: request.url!, query })
    const { status = 200, body } = isKeyCheck ? keyCheck(searchParams.get('environmentId')) : answer()
    response.writeHead(request.method === 'GET' && customerId ? status : 404, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return {
    url: `http://127.0.0.1:${await listen(server, port)}`,
    asked,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
