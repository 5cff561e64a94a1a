import { expect } from 'chai'
import { Problem, unavailable } from '../../../../src/kernel/problem.js'
import { Secret } from '../../../../src/kernel/secret.js'
import { consumeSqs, type SqsConsumeOptions, type SqsTiming } from '../../../../src/platform/cloud/sqs.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Life } from '../../../../src/platform/process.js'
import type { JobDefinition } from '../../../../src/platform/queue.js'
import { eventually } from '../../../support/eventually.js'
import { SqsServer } from '../../../support/sqs-server.js'
import { TcpProxy } from '../../../support/tcp-proxy.js'

interface Note {
  v: number
  text: string
}

const notes: JobDefinition<Note> = {
  queue: 'notes',
  name: 'note',
  version: 1,
  parse(data) {
    if (typeof (data as Note).text !== 'string') throw new Error('a note has a text')
    return data as Note
  },
}

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/of+the+test', region: 'eu-west-1' }
interface Settings {
  batchSize?: number
  timing?: Partial<SqsTiming>
  secret?: string
  endpoint?: string
}

/** Seconds of SQS are whole ones. */
const quick: SqsTiming = { waitSeconds: 1, hiddenSeconds: 1, brokenSeconds: 0, otherVersionSeconds: [1, 2], retryMs: 20 }

describe('a queue of SQS', function () {
  this.timeout(30_000)

  let server: SqsServer
  const lives: Life[] = []

  beforeEach(async () => {
    server = await SqsServer.start(credentials)
    server.create('dead')
    server.create('notes', { redrive: { to: 'dead', maxReceiveCount: 3 } })
  })
  afterEach(async () => {
    for (const life of lives.splice(0)) expect(await life.stop()).to.deep.equal([])
    await server.close()
  })

  async function work(
    handler: SqsConsumeOptions<Note>['handler'],
    { batchSize = 1, timing = {}, secret = credentials.secretAccessKey, endpoint = server.endpoint }: Settings = {},
  ): Promise<Life> {
    const life = new Life('test', silentLogger())
    lives.push(life)
    const { accessKeyId, region } = credentials
    const queue = { url: server.urlOf('notes'), region, accessKeyId, secretAccessKey: new Secret(secret), endpoint }
    await consumeSqs(life, queue, notes, { batchSize, handler, timing: { ...quick, ...timing } })
    return life
  }

  const send = (text: string, v = 1) => server.send('notes', JSON.stringify({ v, text }))
  const names = () => server.calls.map(({ name }) => name)
  const isReady = async (life: Life) => (await life.readiness()).status === 'UP'

  it('hands out each message, and deletes it after its handler is done and not before', async () => {
    const done: string[] = []
    let release!: () => void
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    send('one')
    const life = await work(async ({ text }) => {
      await gate
      done.push(text)
    })
    await eventually('it is in work', () => server.receipts('notes')[0] === 1)
    expect(server.bodies('notes')).to.have.length(1)
    expect(names()).not.to.include('DeleteMessageBatch')
    release()
    await eventually('it is deleted', () => server.bodies('notes').length === 0)
    expect(done).to.deep.equal(['one'])
    await eventually('it is ready', () => isReady(life))
  })

  it('receives as many at once as it was told, in calls of at most ten, and waits long for them', async () => {
    for (let n = 0; n < 40; n++) send(`${n}`)
    const done = new Set<string>()
    await work(async ({ text }) => void done.add(text), { batchSize: 13, timing: { waitSeconds: 2 } })
    await eventually('all are done', () => done.size === 40)
    const sizes = server.calls.flatMap(({ name, input }) => (name === 'ReceiveMessage' ? [input.MaxNumberOfMessages] : []))
    expect(new Set(sizes)).to.deep.equal(new Set([10, 3]))
    await eventually('it waits', () => server.calls.some(({ input }) => input.WaitTimeSeconds === 2))
    await eventually('all are deleted', () => server.bodies('notes').length === 0)
  })

  it('keeps a message hidden for as long as it is in work, which may be longer than SQS would hide it', async () => {
    send('long')
    let times = 0
    await work(async () => {
      times += 1
      await new Promise((resolve) => setTimeout(resolve, 3_500))
    })
    await eventually('it is deleted', () => server.bodies('notes').length === 0, 15_000)
    expect(times).to.equal(1)
    expect(names()).to.include('ChangeMessageVisibilityBatch')
  })

  it('has another process take a message over from one that is cut off', async () => {
    const done: string[] = []
    let release!: () => void
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const line = await TcpProxy.start(server.endpoint)
    await work(() => gate, { endpoint: `http://127.0.0.1:${line.port}` })
    send('orphan')
    await eventually('it is in work', () => server.receipts('notes')[0] === 1)
    await line.stop()
    await work(async ({ text }) => void done.push(text))
    await eventually('another takes it', () => done.length > 0)
    release()
    await eventually('it is deleted', () => server.bodies('notes').length === 0)
    expect(done).to.deep.equal(['orphan'])
  })

  it('holds a message while what it needs is away, without letting SQS take it for a broken one', async () => {
    send('patient')
    let tries = 0
    await work(
      async () => {
        tries += 1
        if (tries < 6) throw unavailable('away')
      },
      { timing: { retryMs: 150 } },
    )
    await eventually('it is deleted', () => server.bodies('notes').length === 0, 15_000)
    expect(tries).to.equal(6)
    expect(server.bodies('dead')).to.deep.equal([])
    expect(server.calls.filter(({ name }) => name === 'ReceiveMessage').length).to.be.above(0)
  })

  it('lets go of what nothing can be made of until SQS moves it, and works on', async () => {
    const bodies = ['', 'no json', 'null', '[]', '{"v":"1"}', '{"v":1}', '{"v":1,"text":{}}']
    for (const body of bodies) server.send('notes', body)
    send('broken')
    send('refused')
    const done: string[] = []
    const told: unknown[] = []
    const life = await work(
      async ({ text }) => {
        if (text === 'broken') throw new TypeError('of ours')
        if (text === 'refused') throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', 'never')
        done.push(text)
      },
      { batchSize: 4 },
    )
    life.onUnexpected((error) => told.push(error))
    await eventually('they are moved', () => server.bodies('dead').length === bodies.length + 2, 15_000)
    expect(server.receipts('dead')).to.deep.equal(Array(bodies.length + 2).fill(3))
    expect(server.bodies('notes')).to.deep.equal([])
    send('good')
    await eventually('it works on', () => done.length > 0)
    expect(told.map((error) => (error as Error).message)).to.deep.equal(['of ours', 'of ours', 'of ours'])
  })

  it('leaves a message of another version to a newer process, for longer each time', async () => {
    send('from the future', 2)
    const done: Note[] = []
    await work(async (note) => void done.push(note))
    const hidden = () =>
      server.calls.flatMap(({ name, input }) =>
        name === 'ChangeMessageVisibilityBatch'
          ? (input.Entries as { VisibilityTimeout: number }[]).map((entry) => entry.VisibilityTimeout)
          : [],
      )
    await eventually('it came twice', () => hidden().length === 2)
    expect(hidden()).to.deep.equal([1, 2])
    expect(done).to.deep.equal([])
    expect(server.bodies('dead')).to.deep.equal([])
  })

  it('is not ready while SQS is away, refuses the signature, or knows no such queue, and is when that is over', async () => {
    const done: string[] = []
    const wrong = await work(async () => undefined, { secret: 'another' })
    const life = await work(async ({ text }) => void done.push(text))
    await eventually('it is ready', () => isReady(life))
    expect(await isReady(wrong)).to.equal(false)
    await server.close()
    await eventually('it is not', async () => !(await isReady(life)))
    await server.listen()
    send('later')
    await eventually('it is again', async () => done.length > 0 && (await isReady(life)), 15_000)
    expect(await isReady(wrong)).to.equal(false)
    expect(done).to.deep.equal(['later'])
  })

  it('stops within moments: deletes what is done, and gives back what is held, to nobody who has hung up', async () => {
    server.hangUpKnownAfterMs = 300
    send('held')
    const life = await work(
      async () => {
        throw unavailable('away')
      },
      { timing: { hiddenSeconds: 30, waitSeconds: 20 } },
    )
    await eventually('it is held', () => server.receipts('notes')[0] === 1)
    const begun = performance.now()
    expect(await life.stop()).to.deep.equal([])
    // Not only when SQS has nothing to say for the twenty seconds that it is asked to wait.
    expect(performance.now() - begun).to.be.below(10_000)
    const done: string[] = []
    await work(async ({ text }) => void done.push(text))
    await eventually('the next process has it soon', () => done.length > 0, 15_000)
  })
})
