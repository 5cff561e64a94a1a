import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from '../attack.js'
import { type HttpCall, isRefused, send } from './http.js'

/** Who attacks: counts what it tries and what is refused. Its addresses are of this machine alone, and nobody else's in the run. */
export class Attacker {
  tried = 0
  refused = 0
  /** Calls that were answered as asked. */
  granted = 0
  /** Answers that say that it is the platform's own fault. */
  faults = 0
  #number = 0

  constructor(
    readonly target: Target,
    readonly signal: AbortSignal,
    /** Of the attack among those that run at a time. */
    private readonly index: number,
  ) {}

  /** The nth of its addresses in 127.0.0.0/8. */
  address(n: number): string {
    return `127.${1 + this.index}.${Math.floor(n / 250)}.${1 + (n % 250)}`
  }

  /** A number that it has not used yet. */
  next(): number {
    return ++this.#number
  }

  /** Makes a call to the web process and counts it. Answers what came back; status 0 when the connection was closed. */
  async call(call: HttpCall) {
    this.tried += 1
    const answer = await send(new URL(this.target.webUrl), call, this.signal)
    if (!isRefused(answer)) this.granted += 1
    // What is under way at the end is cut off by the attacker itself.
    else if (!this.signal.aborted) this.refused += 1
    if (answer.text.includes('"InternalServerError"')) this.faults += 1
    return answer
  }

  /** As `call`, of a GraphQL request with the key of a server unless the headers say otherwise. */
  graphql(request: string | object, { address = this.address(0), headers = this.asServer() }: Partial<HttpCall> = {}) {
    const body = typeof request === 'string' ? request : JSON.stringify(request)
    return this.call({ address, method: 'POST', path: '/graphql', headers: { ...headers, 'content-type': 'application/json' }, body })
  }

  asServer = () => ({ 'x-api-key': this.target.serverKey })
  asEndUser = () => ({ 'x-api-key': this.target.clientKey, 'x-customer-key': this.target.customerToken })

  /** So many callers at once, each of whom does it again and again until the end, or so many times in all. */
  async repeat(
    callers: number,
    work: (number: number, caller: number) => Promise<unknown>,
    times = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    let left = times
    const one = async (caller: number) => {
      while (!this.signal.aborted && left-- > 0) {
        await work(this.next(), caller)
        // Lets the timer of the end through, however fast the answers are.
        await new Promise(setImmediate)
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => one(caller)))
  }

  /** As many times a second as said, whether or not what was before has been answered. */
  async pace(perSecond: number, work: (number: number) => Promise<unknown>): Promise<void> {
    const works: Promise<unknown>[] = []
    while (!this.signal.aborted) {
      works.push(work(this.next()))
      await this.pause(1_000 / perSecond)
    }
    await Promise.all(works)
  }

  /** Until the end at the latest. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal }).catch(() => undefined)
  }

  /** Until the end. */
  async wait(): Promise<void> {
    if (this.signal.aborted) return
    await new Promise((resolve) => this.signal.addEventListener('abort', resolve, { once: true }))
  }
}
