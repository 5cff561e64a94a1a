import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import type { Problem } from '../../../../src/kernel/problem.js'
import { Registry } from '../../../../src/platform/metrics.js'
import { turns } from '../../../../src/web/access/fair-turns.js'
import { Bodies, maxBodyBytes, maxHeldBytesPerCustomer, maxHeldBytesPerKey } from '../../../../src/web/http/body.js'
import { longBytes } from '../../../../src/web/http/utf8-text.js'

const nextTick = () => new Promise<void>((resolve) => process.nextTick(resolve))

describe('the room for bodies', () => {
  const large = Buffer.alloc(maxBodyBytes - 1_000, `"${'x'.repeat(997)}",`)
  const send = (bodies: Bodies, environmentId: string, keyId: string, customerId: string | null = null) => {
    const request = Object.assign(new PassThrough(), { headers: { 'content-length': String(large.length) } })
    request.end(large)
    return bodies.read(request as unknown as IncomingMessage, { environmentId, keyId, customerId })
  }
  /** Of so many large bodies that are sent one after another, those that are read, and what the others are refused with. */
  async function fill(
    bodies: Bodies,
    count: number,
    senderOf: (n: number) => Parameters<typeof send> extends [Bodies, ...infer Of] ? Of : never,
  ) {
    const read: { release(): void }[] = []
    const refused = new Set<string>()
    for (let n = 0; n < count; n++)
      await send(bodies, ...senderOf(n)).then(
        (body) => read.push(body),
        (problem: Problem) => refused.add(problem.code),
      )
    return { read, refused: [...refused] }
  }

  it('is of no environment alone, however many keys it has: the large body of another one is read', async () => {
    const bodies = new Bodies({ metrics: new Registry() })
    const ofKey = Math.floor(maxHeldBytesPerKey / large.length)
    const { read, refused } = await fill(bodies, 4 * ofKey, (n) => ['loud', `key ${Math.floor(n / ofKey)}`])
    expect(refused).to.deep.equal(['UNAVAILABLE'])
    expect(read).to.have.length(6)
    const another = await send(bodies, 'other', 'another key')
    expect(another.text).to.have.length(large.length)
    for (const body of [...read, another]) body.release()
    expect((await fill(bodies, 3, () => ['loud', 'key 0'])).read).to.have.length(3)
  }).timeout(20_000)

  it('is of no environment alone, however many customers it has', async () => {
    const bodies = new Bodies({ metrics: new Registry() })
    const ofCustomer = Math.floor(maxHeldBytesPerCustomer / large.length)
    const { refused } = await fill(bodies, 11 * ofCustomer, (n) => ['loud', 'client key', `customer ${Math.floor(n / ofCustomer)}`])
    expect(refused).to.deep.equal(['UNAVAILABLE'])
    await send(bodies, 'other', 'another key')
  }).timeout(20_000)

  it('is filled in turns: what has arrived of a long body waits while its environment has something else to do, and nobody else does', async () => {
    const bodies = new Bodies({ metrics: new Registry() })
    const arriving = (environmentId: string) => {
      const request = Object.assign(new PassThrough({ highWaterMark: 2 * longBytes }), { headers: {} })
      const read = bodies.read(request as unknown as IncomingMessage, { environmentId, keyId: environmentId, customerId: null })
      return { request, read }
    }
    const [busy, quiet] = [arriving('busy'), arriving('quiet')]
    const turn = turns.take('busy')
    for (const { request } of [busy, quiet]) request.write(large.subarray(0, longBytes + 1))
    await nextTick()
    expect([busy.request.isPaused(), quiet.request.isPaused()]).to.deep.equal([true, false])
    await turn
    for (const { request } of [busy, quiet]) request.end(large.subarray(longBytes + 1))
    for (const { read } of [busy, quiet]) expect((await read).text).to.equal(large.toString())
  })

  it('is filled in time whatever it waits for its turn: that is no time of who sends it', async () => {
    const timeoutMs = 100
    const bodies = new Bodies({ metrics: new Registry(), timeoutMs })
    const request = Object.assign(new PassThrough({ highWaterMark: 2 * longBytes }), { headers: {} })
    const read = bodies.read(request as unknown as IncomingMessage, { environmentId: 'e', keyId: 'k', customerId: null })
    const others = Array.from({ length: 3 * timeoutMs }, async () => {
      await turns.take('e')
      const end = performance.now() + 1
      while (performance.now() < end);
    })
    request.write(large.subarray(0, longBytes + 1))
    await Promise.all(others)
    request.end(large.subarray(longBytes + 1))
    expect((await read).text).to.equal(large.toString())
  })

  it('is not filled by who stops in the middle of it', async () => {
    const bodies = new Bodies({ metrics: new Registry(), timeoutMs: 20 })
    for (const sent of [1, longBytes + 1]) {
      const request = Object.assign(new PassThrough({ highWaterMark: 2 * longBytes }), { headers: {} })
      const read = bodies.read(request as unknown as IncomingMessage, { environmentId: 'e', keyId: 'k', customerId: null })
      const turn = turns.take('e')
      request.write(large.subarray(0, sent))
      const refusal = await read.then(
        () => 'read',
        ({ code }: Problem) => code,
      )
      await turn
      expect([refusal, request.isPaused()]).to.deep.equal(['DEADLINE_EXCEEDED', true])
    }
  })
})

describe('a body that is at hand', () => {
  const refusals = async (metrics: Registry) => /bodies_refused_total\{reason="encoding"\} (\d+)/.exec(await metrics.metrics())?.[1]
  function arrive(sent: Buffer | string, length = String(Buffer.byteLength(sent))) {
    const request = Object.assign(new PassThrough(), { headers: { 'content-length': length } })
    request.write(sent)
    return request
  }
  const bodies = new Bodies({ metrics: new Registry() })
  const atHand = (request: PassThrough) => bodies.atHand(request as unknown as IncomingMessage)

  for (const text of ['{}', '{"name":"é 漢 😀"}', `{"text":"${'x'.repeat(2_000)}"}`])
    it(`is read at once, and to its end: ${text.slice(0, 20)}`, async () => {
      const request = arrive(text)
      expect(atHand(request)?.text).to.equal(text)
      const ended = new Promise((resolve) => request.once('end', resolve))
      request.end()
      await ended
    })

  it('is refused, and counted, when it is no UTF-8', async () => {
    const metrics = new Registry()
    const request = arrive(Buffer.from([0x22, 0xff, 0x22]))
    expect(() => new Bodies({ metrics }).atHand(request as unknown as IncomingMessage)).to.throw('The body is not UTF-8.')
    expect(await refusals(metrics)).to.equal('1')
  })

  it('is none that is large, has not all arrived, does not say how long it is, or is empty', () => {
    expect(atHand(arrive('x'.repeat(2_049)))).to.equal(null)
    expect(atHand(arrive('{"a":1', '7'))).to.equal(null)
    const request = Object.assign(new PassThrough(), { headers: {} })
    request.write('{}')
    expect(atHand(request)).to.equal(null)
    expect(atHand(Object.assign(new PassThrough(), { headers: { 'content-length': '0' } }))).to.equal(null)
  })

  it('is nobody’s who has gone', () => {
    const request = arrive('{}')
    request.destroy()
    expect(atHand(request)).to.equal(null)
  })
})
