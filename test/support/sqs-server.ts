/**
 * SQS as its documentation tells it, over HTTP on loopback: the JSON protocol, signatures, messages that are hidden while they are in work and appear again, counts of
 * receipts, and dead-letter queues.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Stored {
  id: string
  body: string
  receivedTimes: number
  /** By the clock that only goes on. */
  visibleAt: number
  receipt: string | null
}

export interface QueueOptions {
  visibilitySeconds?: number
  /** Where a message goes that was received so often. */
  redrive?: { to: string; maxReceiveCount: number }
}

interface FakeQueue extends Required<Pick<QueueOptions, 'visibilitySeconds'>> {
  redrive: QueueOptions['redrive']
  messages: Stored[]
}

/** One call that was taken, by name, with its input. */
export interface SqsCall {
  name: string
  input: Record<string, unknown>
}

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

type Input = Record<string, never> & {
  QueueUrl: string
  MessageBody: string
  ReceiptHandle: string
  VisibilityTimeout?: number
  WaitTimeSeconds?: number
  MaxNumberOfMessages?: number
  MessageSystemAttributeNames?: string[]
  Entries: { Id: string; ReceiptHandle: string; VisibilityTimeout?: number; MessageBody: string }[]
}

class SqsError extends Error {
  constructor(
    readonly type: string,
    message: string,
    readonly status = 400,
  ) {
    super(message)
  }
}

const longestHiddenSeconds = 43_200
const account = '123456789012'

export class SqsServer {
  readonly calls: SqsCall[] = []
  /** Answers this to every call while it is set. */
  failure: { status: number; type: string; message: string } | null = null
  /** It takes requests, and answers none before that. */
  answering: Promise<unknown> = Promise.resolve()
  /** Who has hung up is given what waits until then. */
  hangUpKnownAfterMs = 0
  readonly #queues = new Map<string, FakeQueue>()
  readonly #server: Server
  #port = 0

  private constructor(private readonly credentials: Credentials) {
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        (body) => response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body)),
        (error: SqsError) =>
          response
            .writeHead(error.status ?? 500, { 'content-type': 'application/x-amz-json-1.0' })
            .end(JSON.stringify({ __type: `com.amazonaws.sqs#${error.type}`, message: error.message })),
      )
    })
  }

  static async start(credentials: Credentials): Promise<SqsServer> {
    const server = new SqsServer(credentials)
    await server.listen()
    return server
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Also what is under way. */
  close(): Promise<unknown> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(resolve))
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  urlOf(queue: string): string {
    return `https://sqs.${this.credentials.region}.amazonaws.com/${account}/${queue}`
  }

  create(queue: string, { visibilitySeconds = 30, redrive }: QueueOptions = {}): string {
    this.#queues.set(queue, { visibilitySeconds, redrive, messages: [] })
    return this.urlOf(queue)
  }

  send(queue: string, body: string): { MessageId: string; MD5OfMessageBody: string } {
    const id = randomUUID()
    this.#queue(queue).messages.push({ id, body, receivedTimes: 0, visibleAt: 0, receipt: null })
    return { MessageId: id, MD5OfMessageBody: md5(body) }
  }

  /** What it holds, once. */
  take(queue: string): string[] {
    return this.#queue(queue)
      .messages.splice(0)
      .map(({ body }) => body)
  }

  /** What it holds, hidden or not. */
  bodies(queue: string): string[] {
    return this.#queue(queue).messages.map(({ body }) => body)
  }

  /** Of each message that it holds, how often it was received. */
  receipts(queue: string): number[] {
    return this.#queue(queue).messages.map(({ receivedTimes }) => receivedTimes)
  }

  #queue(name: string): FakeQueue {
    const queue = this.#queues.get(name)
    if (!queue) throw new SqsError('QueueDoesNotExist', 'The specified queue does not exist.')
    return queue
  }

  #queueAt(url: string): FakeQueue {
    if (!url.startsWith(this.urlOf(''))) throw new SqsError('InvalidAddress', `The address ${url} is not valid for this endpoint.`)
    return this.#queue(url.slice(this.urlOf('').length))
  }

  async #answer(request: IncomingMessage): Promise<object> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const payload = Buffer.concat(parts)
    await this.answering
    if (this.failure) throw new SqsError(this.failure.type, this.failure.message, this.failure.status)
    checkSignature(request, payload, this.credentials)
    const name = /^AmazonSQS\.(\w+)$/.exec(String(request.headers['x-amz-target']))?.[1] ?? ''
    const input = JSON.parse(payload.toString()) as Input
    this.calls.push({ name, input })
    switch (name) {
      case 'ReceiveMessage':
        return this.#receive(input, request)
      case 'DeleteMessage':
        return this.#delete(this.#queueAt(input.QueueUrl), input.ReceiptHandle)
      case 'DeleteMessageBatch':
        return batch(input, ({ ReceiptHandle }) => this.#delete(this.#queueAt(input.QueueUrl), ReceiptHandle))
      case 'ChangeMessageVisibility':
        return this.#hide(this.#queueAt(input.QueueUrl), input)
      case 'ChangeMessageVisibilityBatch':
        return batch(input, (entry) => this.#hide(this.#queueAt(input.QueueUrl), entry))
      case 'SendMessageBatch': {
        const bytes = input.Entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0)
        if (bytes > 262_144)
          throw new SqsError('BatchRequestTooLong', `Batch requests cannot be longer than 262144 bytes. You have sent ${bytes}.`)
        const sent = input.QueueUrl.slice(this.urlOf('').length)
        this.#queueAt(input.QueueUrl)
        const told = new Map(input.Entries.map(({ Id, MessageBody }) => [Id, this.send(sent, MessageBody)]))
        return batch(input, ({ Id }) => told.get(Id)!)
      }
      default:
        throw new SqsError('UnsupportedOperation', `There is no ${name}.`)
    }
  }

  async #receive(input: Input, request: IncomingMessage): Promise<object> {
    const queue = this.#queueAt(input.QueueUrl)
    const { MaxNumberOfMessages: most = 1, WaitTimeSeconds = 0, VisibilityTimeout = queue.visibilitySeconds } = input
    if (most < 1 || most > 10) throw new SqsError('InvalidParameterValue', 'MaxNumberOfMessages must be between 1 and 10.')
    if (WaitTimeSeconds < 0 || WaitTimeSeconds > 20)
      throw new SqsError('InvalidParameterValue', 'WaitTimeSeconds must be between 0 and 20.')
    checkSeconds(VisibilityTimeout)
    const until = performance.now() + WaitTimeSeconds * 1_000
    let hungUpAt = Number.POSITIVE_INFINITY
    for (;;) {
      if (request.socket.destroyed) hungUpAt = Math.min(hungUpAt, performance.now())
      if (performance.now() >= hungUpAt + this.hangUpKnownAfterMs) return {}
      const found = this.#takeVisible(queue, most, VisibilityTimeout)
      if (found.length > 0 || performance.now() >= until)
        return found.length === 0 ? {} : { Messages: found.map((message) => told(message, input.MessageSystemAttributeNames ?? [])) }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  #takeVisible(queue: FakeQueue, most: number, hiddenSeconds: number): Stored[] {
    const now = performance.now()
    const visible = queue.messages.filter(({ visibleAt }) => visibleAt <= now)
    const broken = visible.filter(({ receivedTimes }) => queue.redrive && receivedTimes >= queue.redrive.maxReceiveCount)
    if (broken.length > 0 && queue.redrive) {
      queue.messages = queue.messages.filter((message) => !broken.includes(message))
      this.#queue(queue.redrive.to).messages.push(...broken.map((message) => ({ ...message, receipt: null, visibleAt: 0 })))
    }
    const taken = visible.filter((message) => !broken.includes(message)).slice(0, most)
    for (const message of taken)
      Object.assign(message, {
        receivedTimes: message.receivedTimes + 1,
        receipt: randomUUID(),
        visibleAt: now + hiddenSeconds * 1_000,
      })
    return taken
  }

  /** Of a receipt that is not the latest, nothing is deleted, and nobody is told so. */
  #delete(queue: FakeQueue, receipt: string): object {
    queue.messages = queue.messages.filter((message) => message.receipt !== receipt)
    return {}
  }

  #hide(queue: FakeQueue, { ReceiptHandle, VisibilityTimeout = -1 }: Pick<Input, 'ReceiptHandle' | 'VisibilityTimeout'>): object {
    checkSeconds(VisibilityTimeout)
    const now = performance.now()
    const message = queue.messages.find(({ receipt }) => receipt === ReceiptHandle)
    if (!message) throw new SqsError('ReceiptHandleIsInvalid', 'The receipt handle is not valid.')
    if (message.visibleAt <= now) throw new SqsError('MessageNotInflight', 'The message is not in flight.')
    message.visibleAt = now + VisibilityTimeout * 1_000
    return {}
  }
}

function checkSeconds(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > longestHiddenSeconds)
    throw new SqsError('InvalidParameterValue', `VisibilityTimeout ${seconds} is not between 0 and ${longestHiddenSeconds}.`)
}

/** What `work` answers of an entry is told of it. */
function batch({ Entries }: Input, work: (entry: Input['Entries'][number]) => object): object {
  if (Entries.length === 0) throw new SqsError('EmptyBatchRequest', 'There are no entries.')
  if (Entries.length > 10) throw new SqsError('TooManyEntriesInBatchRequest', 'There are more than 10 entries.')
  if (new Set(Entries.map(({ Id }) => Id)).size < Entries.length) throw new SqsError('BatchEntryIdsNotDistinct', 'Two entries share an id.')
  const [successful, failed]: [object[], object[]] = [[], []]
  for (const entry of Entries)
    try {
      successful.push({ Id: entry.Id, ...work(entry) })
    } catch (error) {
      failed.push({ Id: entry.Id, SenderFault: true, Code: (error as SqsError).type, Message: (error as Error).message })
    }
  return { Successful: successful, Failed: failed }
}

function told({ id, body, receipt, receivedTimes }: Stored, attributes: readonly string[]): object {
  const isAsked = attributes.includes('ApproximateReceiveCount') || attributes.includes('All')
  return {
    MessageId: id,
    ReceiptHandle: receipt,
    Body: body,
    MD5OfBody: md5(body),
    ...(isAsked && { Attributes: { ApproximateReceiveCount: String(receivedTimes) } }),
  }
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** Signature version 4, made once more from what arrived. */
function checkSignature(request: IncomingMessage, payload: Buffer, { accessKeyId, secretAccessKey, region }: Credentials): void {
  const { authorization = '', 'x-amz-date': date = '' } = request.headers as Record<string, string>
  const [, key, day, ofRegion, service, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/.exec(
      authorization,
    ) ?? []
  if (signature === undefined) throw new SqsError('MissingAuthenticationToken', 'Request is missing Authentication Token.', 403)
  if (key !== accessKeyId) throw new SqsError('InvalidClientTokenId', 'The security token included in the request is invalid.', 403)
  if (ofRegion !== region || service !== 'sqs' || !date.startsWith(day!))
    throw new SqsError('SignatureDoesNotMatch', 'The credential is scoped to another region, service or day.', 403)
  const signedNames = names.split(';')
  for (const name of ['host', 'x-amz-date', 'x-amz-target'])
    if (!signedNames.includes(name)) throw new SqsError('SignatureDoesNotMatch', `The header ${name} is not signed.`, 403)
  const headers = signedNames.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}\n`).join('')
  const canonical = [request.method, request.url, '', headers, names, sha256(payload)].join('\n')
  const scope = `${day}/${region}/sqs/aws4_request`
  const signing = [day!, region, 'sqs', 'aws4_request'].reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretAccessKey}`)
  const expected = hmac(signing, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex')
  if (expected !== signature)
    throw new SqsError('SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.', 403)
}
