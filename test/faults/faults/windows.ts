/** A process is killed between two steps of its work: right after something of it has passed to or from a server. */
import type { Watch } from '../../support/tcp-proxy.js'
import { type Fault, nothing } from '../fault.js'
import type { Link } from '../stage/process-types.js'
import type { StagedProcess } from '../stage/staged-process.js'

interface Passing {
  link: Exclude<Link, 'web'>
  from: 'client' | 'server'
  /** In lower case. */
  holds?: string
}

/** Every job has it. */
const job: Passing = { link: 'redis', from: 'server', holds: '"v":1' }
const asks: Passing = { link: 'postgres', from: 'client' }
const hears: Passing = { link: 'postgres', from: 'server' }
const tells: Passing = { link: 'redis', from: 'client' }
const heard: Passing = { link: 'redis', from: 'server' }
const commits: Passing = { ...asks, holds: 'commit' }
const committed: Passing = { ...hears, holds: 'commit' }
/** A webhook, and the answer to it. Which copy has sent it is not told apart, so both are killed. */
const sends: Passing = { link: 'receiver', from: 'client' }
const answer: Passing = { link: 'receiver', from: 'server' }
const records: Passing = { ...asks, holds: 'webhooks_record_attempts' }

/** By what has passed last, in the order in which it has to. */
const windows: Readonly<Record<string, readonly Passing[]>> = {
  taken: [job],
  asked: [job, asks],
  answered: [job, asks, hears],
  'asked-again': [job, asks, hears, asks],
  told: [job, asks, hears, tells],
}
const inTransactions: Readonly<Record<string, readonly Passing[]>> = {
  'commit-sent': [asks, commits],
  committed: [asks, commits, committed],
  'told-after-commit': [asks, commits, committed, tells],
}
/** A worker that seldom has something to tell right after a commit. */
const { 'told-after-commit': _, ...untold } = inTransactions
const both = { ...windows, ...inTransactions }

const windowsOf: readonly [type: string, windows: Readonly<Record<string, readonly Passing[]>>][] = [
  ['usage-ingestion', both],
  ['event-aggregation', both],
  ['cache-invalidation', both],
  ['subscription-transitions', both],
  ['billing-sync', { asked: [asks], answered: [asks, hears], ...untold }],
  ['alert-evaluation', { asked: [asks], answered: [asks, hears], ...inTransactions }],
  [
    'webhook-delivery',
    { asked: [asks], answered: [asks, hears], sent: [sends], heard: [sends, answer], 'record-sent': [records], recorded: [records, hears] },
  ],
  ['queue-consumption', { taken: [job], written: [job, tells], heard: [job, tells, heard] }],
  ['web', { asked: [asks], answered: [asks, hears], told: [tells], ...inTransactions }],
]

/** So long is waited for it to come about, and it has to come about so often. */
const mostMs = 20_000
const times = 2

const quick = ['kill-usage-ingestion-answered', 'kill-webhook-delivery-heard']

export const windowFaults: readonly Fault[] = windowsOf.flatMap(([type, ofType]) =>
  Object.entries(ofType).map(
    ([window, passings]): Fault => ({
      name: `kill-${type}-${window}`,
      about: `kill -9 of a ${type} at the moment that it has ${window.replaceAll('-', ' ')}; twice where that happens so often`,
      isQuick: quick.includes(`kill-${type}-${window}`),
      endsProcesses: true,
      holdMs: 500,
      async inject(stage) {
        for (let time = 0; time < times; time++) {
          const end = performance.now() + mostMs
          const first = { isKilled: false }
          for (const process of stage.of(type)) killAfter(process, passings, first)
          while (!first.isKilled && performance.now() < end) await stage.wait(50)
          for (const process of stage.of(type)) stopWatching(process)
          if (!first.isKilled && time === 0) return async () => [`${window} did not come about`]
          const isBack = async () => (await Promise.all(stage.of(type).map((process) => process.isReady()))).every(Boolean)
          while (!(await isBack()) && performance.now() < end) await stage.wait(100)
        }
        return nothing
      },
    }),
  ),
)

/** Of the copies the first that comes to it. */
function killAfter(process: StagedProcess, passings: readonly Passing[], first: { isKilled: boolean }): void {
  let passed = 0
  const watch = (link: Passing['link']): Watch => {
    return (from, data) => {
      const next = passings[passed]
      if (!next || next.link !== link || next.from !== from) return
      if (next.holds && !data.toString('latin1').toLowerCase().includes(next.holds)) return
      passed += 1
      if (passed < passings.length || (first.isKilled && link !== 'receiver')) return
      first.isKilled = true
      process.kill()
    }
  }
  for (const link of ['postgres', 'redis', 'receiver'] as const) {
    const way = process.links[link]
    if (!way) continue
    const [other, own] = [way.watch, watch(link)]
    // That to the receiver is of both copies.
    way.watch = (from, data) => {
      other?.(from, data)
      own(from, data)
    }
  }
}

function stopWatching(process: StagedProcess): void {
  for (const link of Object.values(process.links)) link.watch = null
}
