import { expect } from 'chai'
import { Problem, unavailable } from '../../../src/kernel/problem.js'
import { Secret } from '../../../src/kernel/secret.js'
import { KeyWatch, type KeyWatchTiming } from '../../../src/platform/key-watch.js'
import type { Logger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { eventually } from '../../support/eventually.js'

type Answer = 'taken' | 'refused' | 'forbidden' | 'away' | 'silent'

const pending = () => new Promise<never>(() => undefined)

describe('watching the key of a process', () => {
  let life: Life
  let answer: Answer
  let asked: number
  let lines: { level: string; text: string }[]

  beforeEach(() => {
    lines = []
    asked = 0
    const write = (level: string) => (facts: object, text: string) => lines.push({ level, text: `${text} ${JSON.stringify(facts)}` })
    life = new Life('test', { info: write('info'), error: write('error'), warn: write('warn') } as unknown as Logger)
  })
  afterEach(async () => expect(await life.stop()).to.deep.equal([]))

  const watch = (first: Answer, timing: Partial<KeyWatchTiming> = {}) => {
    answer = first
    return new KeyWatch(life, {
      key: new Secret('server-0123456789'),
      ask: async (signal) => {
        asked++
        signal.throwIfAborted()
        if (answer === 'silent')
          await Promise.race([pending(), new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))])
        if (answer === 'refused') throw new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', 'The key is not known')
        if (answer === 'forbidden') throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'testClock needs a server key.')
        if (answer === 'away') throw unavailable('away')
      },
      timing: { retryMs: 5, recheckMs: 5, pauseMs: 0, patienceMs: 50, ...timing },
    })
  }
  const status = async () => (await life.readiness()).status
  const metric = async () => /^tollgate_api_key_refused\{\S* (\d)/m.exec(await life.metrics.metrics())?.[1]
  /** The answer of a question that was asked after this. */
  const askedAgain = async () => {
    const before = asked
    await eventually('two more questions', () => asked > before + 1)
  }

  for (const [first, ready, level] of [
    ['taken', 'UP', null],
    ['away', 'UP', null],
    ['silent', 'UP', null],
    ['refused', 'DOWN', 'error'],
    ['forbidden', 'DOWN', 'error'],
  ] as const)
    it(`is ${ready} at first when the key is ${first}`, async () => {
      watch(first, { retryMs: 60_000 })
      expect(await status()).to.equal(ready)
      expect(lines.map((line) => line.level)).to.deep.equal(level === null ? [] : [level])
      expect(await metric()).to.equal(level === null ? '0' : '1')
    })

  it('says once what is wrong, without the key, and that it is right again', async () => {
    watch('refused')
    await askedAgain()
    expect(lines).to.have.length(1)
    expect(lines[0]!.text).to.include('The key is not known').and.include('****6789').and.not.include('server-01')
    answer = 'taken'
    await askedAgain()
    expect(await status()).to.equal('UP')
    expect(lines.map(({ level }) => level)).to.deep.equal(['error', 'info'])
    expect(await metric()).to.equal('0')
  })

  it('stays ready when a key that was taken is refused later, and tells it', async () => {
    watch('taken')
    expect(await status()).to.equal('UP')
    answer = 'refused'
    await askedAgain()
    expect(await status()).to.equal('UP')
    expect(lines.map(({ level }) => level)).to.deep.equal(['error'])
    expect(await metric()).to.equal('1')
  })

  it('is not ready when the first that answers, late, refuses the key; and nobody who is away changes that', async () => {
    const key = watch('away')
    expect(await status()).to.equal('UP')
    const seen: boolean[] = []
    key.onChange(() => seen.push(key.isReady))
    answer = 'refused'
    await askedAgain()
    expect(await status()).to.equal('DOWN')
    answer = 'away'
    await askedAgain()
    expect(await status()).to.equal('DOWN')
    expect(lines).to.have.length(1)
    expect(seen.at(-1)).to.equal(false)
  })

  it('asks at once when another call tells something new, and not when it tells what is known', async () => {
    const key = watch('taken', { retryMs: 60_000, recheckMs: 60_000 })
    await status()
    key.hear(true)
    expect(asked).to.equal(1)
    answer = 'refused'
    key.hear(false)
    await eventually('the answer', () => lines.length === 1)
    key.hear(false)
    expect(asked).to.equal(2)
    answer = 'taken'
    key.hear(true)
    await eventually('the answer', () => lines.length === 2)
    expect(asked).to.equal(3)
  })
})
