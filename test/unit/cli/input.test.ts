import { expect } from 'chai'
import { durationMs, instantOf, UsageError } from '../../../src/cli/input.js'

describe('times on the command line', () => {
  const now = Date.parse('2026-05-01T00:00:00Z')
  const cases: [string, number][] = [
    ['0', 0],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
  ]
  for (const [given, expected] of cases)
    it(`reads ${given} as ${expected} ms`, () => expect(durationMs(given, '--overlap')).to.equal(expected))

  for (const given of ['', '5', '-1h', '1.5h', '1 h', 'h', '1y', '9999999d']) {
    it(`refuses "${given}" and names the option`, () =>
      expect(() => durationMs(given, '--overlap')).to.throw(UsageError, /^--overlap must be/))
  }

  it('reads dates, instants and times from now', () => {
    expect(instantOf('2030-01-31', '--expires', now)).to.equal(Date.parse('2030-01-31T00:00:00Z'))
    expect(instantOf('2030-01-31T12:00:00+02:00', '--expires', now)).to.equal(Date.parse('2030-01-31T10:00:00Z'))
    expect(instantOf('90d', '--expires', now)).to.equal(now + 90 * 86_400_000)
  })

  for (const given of ['tomorrow', '2030-13-01', '2030-01-31T12:00', '31.01.2030', '90x']) {
    it(`refuses ${given}, which is no instant`, () =>
      expect(() => instantOf(given, '--expires', now)).to.throw(UsageError, /^--expires must be/))
  }
})
