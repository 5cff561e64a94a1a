import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

/**
 * Files that read the clock of their process, and why nothing that the platform decides depends on it. What is due, in force or too late is decided by the
 * clock of the database (`src/platform/database-clock.ts`), by a sidecar as the platform's answers tell it (`src/reader/api/clock.ts`); how long something
 * takes or is left alone, by `performance.now()`.
 */
const readers: Record<string, string> = {
  'src/kernel/clock.ts': 'makes the one that the command line uses',
  'src/kernel/id.ts': 'ids that grow with time keep index pages warm; which of two is greater decides nothing but ties',
  'src/cli/run.ts': 'a date that is typed as "in 30 days" is meant where it is typed',
  'src/local/demo/clients.ts': 'gRPC takes the deadline of a call as an instant of this process’s clock',
  'src/local/demo/story.ts': 'the demo is a caller, on the machine of its platform',
  'src/sdk/sidecar/client.ts': 'gRPC takes the deadline of a call as an instant of this process’s clock',
  'src/sidecar/grpc/service.ts': 'gRPC tells the deadline of a call as an instant of this process’s clock',
  'src/reader/api/clock.ts': 'all that a sidecar has until the platform has answered',
  'src/platform/queue/consume.ts': 'BullMQ delays jobs by the clocks of its processes; what is late by it is found by a sweep',
  'src/updates/deliver/warmings.ts': 'how long to wait is told, and decides nothing',
  'src/updates/external-cache/mend.ts': 'what holds nothing is not said to be of later than now, whatever version it replaces',
  'src/updates/external-cache/jobs.ts': 'BullMQ delays jobs by the clocks of its processes',
  'src/updates/deliver/feed-epochs.ts': 'when a message was made is told, and decides nothing',
  'src/updates/deliver/change-messages.ts': 'when a message was made is told, and decides nothing',
}

const readsClock = /\bDate\.now\b|\bnew Date\(\)|\bsystemClock\b|\bTemporal\.Now\b|\bDate\(\)/

function sources(): string[] {
  return ['src', 'workers']
    .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => `${top}/${file}`))
    .filter((file) => /\.m?[jt]s$/.test(file))
}

describe('the clock of a process', () => {
  it('is read by those only that decide nothing by it', () => {
    const reading = sources().filter((file) => readsClock.test(readFileSync(file, 'utf8')))
    expect(reading.sort()).to.deep.equal(Object.keys(readers).sort())
  })

  it('gives no record its date: the database does', () => {
    const lines = readFileSync('prisma/schema.prisma', 'utf8').split('\n')
    // Prisma would fill in `now()` itself.
    expect(lines.filter((line) => line.includes('now()'))).to.deep.equal([])
  })
})
