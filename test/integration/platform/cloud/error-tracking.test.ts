import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { Secret } from '../../../../src/kernel/secret.js'
import { trackErrors } from '../../../../src/platform/cloud/error-tracking.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Life } from '../../../../src/platform/process.js'
import { type ErrorTracker, startErrorTracker } from '../../../support/error-tracker.js'

describe('error tracking', () => {
  let tracker: ErrorTracker
  let life: Life

  beforeEach(async () => {
    tracker = await startErrorTracker()
    life = new Life('some-process', silentLogger())
    await trackErrors(life, { dsn: new Secret(tracker.dsn) })
  })
  afterEach(async () => {
    await life.stop()
    await tracker.close()
  })

  it('tells kind, code, causes and places of an error, before the process ends', async () => {
    const cause = Object.assign(new RangeError('of customer acme'), { code: 'ERR_OUT_OF_RANGE' })
    life.unexpected(new Problem('INTERNAL', 'SOMETHING_BROKE', 'for acme', { cause, details: { customerId: 'acme' } }))
    expect(await life.stop()).to.deep.equal([])
    expect(tracker.requests).to.have.length(1)
    expect(tracker.requests[0]).to.include({ method: 'POST' })
    expect(tracker.requests[0]!.path).to.match(/^\/api\/42\/envelope\//)
    const [event] = tracker.events()
    expect(event!.tags).to.deep.equal({ process: 'some-process' })
    expect(event!.exception.values.map(({ type, value }) => ({ type, value }))).to.deep.equal([
      { type: 'RangeError', value: 'ERR_OUT_OF_RANGE' },
      { type: 'Problem', value: 'SOMETHING_BROKE' },
    ])
    const { frames = [] } = event!.exception.values[0]!.stacktrace ?? {}
    expect(frames.map(({ filename }) => filename).join(' ')).to.include('error-tracking.test')
    expect(frames.every(({ filename }) => !filename.startsWith('/') && !filename.startsWith('file:'))).to.equal(true)
  })

  it('tells nothing that the platform is given: no message, no field of the error, no machine', async () => {
    const secrets = ['acme-secret', 'sk-server-key', 'redis://user:password@host', 'line-of-acme']
    const nested = new Error(`of ${secrets[0]}\n    at ${secrets[3]} (/home/${secrets[3]}/x.js:1:1)`)
    const error = Object.assign(new TypeError(`cannot read ${secrets[1]}\n    at ${secrets[3]} (x.js:1:2)`, { cause: nested }), {
      config: { url: secrets[2] },
      code: secrets[1],
    })
    error.name = secrets[0]!
    life.unexpected(error)
    life.unexpected(secrets[0])
    life.unexpected({ customerId: secrets[0] })
    life.unexpected(null)
    await life.stop()
    const all = tracker.requests.map(({ body, headers, path }) => body + headers + path).join('\n')
    expect(tracker.requests.length).to.be.above(1)
    for (const secret of secrets) expect(all).not.to.include(secret)
    expect(all).not.to.include(process.cwd())
    expect(tracker.requests.map(({ body }) => body).join()).not.to.match(/server_name|"user"|ip_address|"request"|breadcrumbs/)
  })

  it('tells the same error once a minute, however often it comes', async () => {
    for (let n = 0; n < 50; n++) life.unexpected(new Error(`number ${n}`))
    await life.stop()
    expect(tracker.requests).to.have.length(1)
  })

  it('is no trouble while the tracker is away', async () => {
    await tracker.close()
    life.unexpected(new Error('nobody hears it'))
    const begun = performance.now()
    expect(await life.stop()).to.deep.equal([])
    expect(performance.now() - begun).to.be.below(5_000)
  })
})
