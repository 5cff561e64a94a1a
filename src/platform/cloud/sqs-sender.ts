import type { SQSClient } from '@aws-sdk/client-sqs'
import { unavailable } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'
import type { Life } from '../process.js'

/** Whom a process sends as. */
export interface SqsAccess {
  region: string
  accessKeyId: string
  secretAccessKey: Secret
  /** Where SQS is called; undefined: at the address of each queue. */
  endpoint: string | undefined
}

/** SQS takes no more in one call. */
const mostPerCall = 10
export const mostBytesPerCall = 256 * 1024
const callsAtOnce = 4
/** All queues of a region have one host: a connection of each call to each of many queues at once. */
const mostSockets = 256
/** Whoever sends has others to serve: a queue that takes longer is away. */
const connectMs = 1_000
const answerMs = 3_000

/** The sending end of queues of SQS. Loads the client of SQS when it is needed first. */
export class SqsSender {
  #opened: Promise<{ sqs: typeof import('@aws-sdk/client-sqs'); client: SQSClient }> | undefined

  /** `access` null: it can send nothing, and says so. */
  constructor(
    private readonly life: Life,
    private readonly access: SqsAccess | null,
  ) {}

  /** Fails with UNAVAILABLE when the queue has not taken all of them; some it may have. Each is at most `mostBytesPerCall` long. */
  async send(url: string, bodies: readonly string[]): Promise<void> {
    this.#opened ??= this.#open()
    const { sqs, client } = await this.#opened
    const lots = lotsOf(bodies)
    const sendNext = async (): Promise<void> => {
      for (let lot = lots.shift(); lot; lot = lots.shift()) {
        const Entries = lot.map((MessageBody, n) => ({ Id: String(n), MessageBody }))
        const { Failed = [] } = await client.send(new sqs.SendMessageBatchCommand({ QueueUrl: url, Entries })).catch((error: unknown) => {
          throw unavailable('The queue of SQS cannot be reached', error)
        })
        if (Failed[0]) throw unavailable(`The queue of SQS did not take a message: ${Failed[0].Code}`)
      }
    }
    await Promise.all(Array.from({ length: callsAtOnce }, sendNext))
  }

  async #open() {
    if (this.access === null) throw unavailable('This process has no CLOUD_ACCESS_KEY_ID to send to a queue of SQS with')
    const sqs = await import('@aws-sdk/client-sqs')
    const { region, accessKeyId, secretAccessKey, endpoint } = this.access
    const client = new sqs.SQSClient({
      region,
      credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: connectMs,
        requestTimeout: answerMs,
        throwOnRequestTimeout: true,
        httpAgent: { maxSockets: mostSockets },
        httpsAgent: { maxSockets: mostSockets },
      },
      ...(endpoint !== undefined && { endpoint }),
    })
    return { sqs, client: this.life.open('sqs', client, (c) => c.destroy()) }
  }
}

/** As many as a call takes, by number and size. */
export function lotsOf(bodies: readonly string[]): string[][] {
  const lots: string[][] = []
  let bytes = 0
  for (const body of bodies) {
    const size = Buffer.byteLength(body)
    const lot = lots.at(-1)
    if (!lot || lot.length === mostPerCall || bytes + size > mostBytesPerCall) {
      lots.push([body])
      bytes = size
    } else {
      lot.push(body)
      bytes += size
    }
  }
  return lots
}
