// Another tenant, in a process of its own, who calls steadily while there is an attack, and tells how that was.
import { Agent, request } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import { quantile } from '../../bench/figures/statistics.js'
import { entitlementPath, frame } from '../attacker/grpc.js'

export interface OtherOrders {
  /** Of the web process, or of the sidecar when `check` is there. */
  url: string
  /** Of the other tenant's environment. */
  serverKey: string
  /** What a call to a sidecar asks about. */
  check?: { customerId: string; featureId: string }
}

export interface OtherFigures {
  calls: number
  /** Those that failed, got a wrong answer, or none in time. */
  lost: number
  p50Ms: number
  p99Ms: number
}

/** Its own address, as it is not the attacker's. */
const address = '127.0.0.7'
const everyMs = 10
/** How late a call may be made, which counts as waiting. */
const lookMs = 1
const timeoutMs = 10_000
/** So many that no call waits for another of its own. */
const connections = 64
/** One of so many calls comes over a connection of its own, as those of newcomers do. */
const freshEvery = 10

type Call = (number: number, signal: AbortSignal) => Promise<boolean>

function overHttp({ url, serverKey }: OtherOrders): Call {
  const { hostname, port } = new URL(url)
  const kept = new Agent({ keepAlive: true, maxSockets: connections, localAddress: address })
  const body = '{"query":"{ __typename }"}'
  const headers = { 'x-api-key': serverKey, 'content-type': 'application/json', 'content-length': String(body.length) }
  return (number, signal) =>
    new Promise((resolve) => {
      const agent = number % freshEvery === 0 ? false : kept
      const sent = request(
        { hostname, port, method: 'POST', path: '/graphql', headers, agent, localAddress: address, signal },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve(response.statusCode === 200 && (text === '{}' || text.includes('"__typename":"Query"'))))
          response.on('error', () => resolve(false))
        },
      )
      sent.on('error', () => resolve(false))
      sent.end(body)
    })
}

function overGrpc({ url, check }: OtherOrders): Call {
  const message = frame(check!.customerId, check!.featureId)
  let session: ClientHttp2Session | undefined
  const current = () => {
    if (session && !session.destroyed && !session.closed) return session
    session = connect(url)
    session.on('error', () => undefined)
    return session
  }
  return (_, signal) =>
    new Promise((resolve) => {
      let isOk = false
      const headers = { ':method': 'POST', ':path': entitlementPath, 'content-type': 'application/grpc', te: 'trailers' }
      const stream = current().request(headers, { signal })
      const note = (fields: Record<string, unknown>) => {
        if (fields['grpc-status'] === '0') isOk = true
      }
      stream.on('response', note)
      stream.on('trailers', note)
      stream.on('data', () => undefined)
      stream.on('error', () => undefined)
      stream.on('close', () => resolve(isOk))
      stream.end(message)
    })
}

/** A call is due at its time whether or not those before it have been answered, and waits from then on. */
class Other {
  readonly #times: number[] = []
  readonly #calls: Promise<void>[] = []
  readonly #begin = performance.now()
  readonly #timer = setInterval(() => this.#callWhatIsDue(), lookMs)
  #lost = 0

  constructor(private readonly call: Call) {}

  #callWhatIsDue(): void {
    while (this.#begin + this.#calls.length * everyMs <= performance.now()) this.#calls.push(this.#one(this.#calls.length))
  }

  async #one(number: number): Promise<void> {
    const dueAt = this.#begin + number * everyMs
    const isRight = await this.call(number, AbortSignal.timeout(timeoutMs))
    this.#times.push(performance.now() - dueAt)
    if (!isRight) this.#lost += 1
  }

  async stop(): Promise<OtherFigures> {
    clearInterval(this.#timer)
    await Promise.all(this.#calls)
    return { calls: this.#calls.length, lost: this.#lost, p50Ms: quantile(this.#times, 0.5), p99Ms: quantile(this.#times, 0.99) }
  }
}

process.on('disconnect', () => process.exit())
process.once('message', async (orders: OtherOrders) => {
  const call = orders.check ? overGrpc(orders) : overHttp(orders)
  // Connections and code are warm when it counts.
  for (let number = 0; number < 30; number++) await call(number, AbortSignal.timeout(timeoutMs))
  const other = new Other(call)
  process.once('message', async () => process.send!(await other.stop()))
  process.send!({})
})
