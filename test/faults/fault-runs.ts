import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from '../../src/platform/process.js'
import { findFaults } from './checker.js'
import { Memory, readFacts, untilQuiet } from './facts.js'
import { type Fault, nothing, type Undo } from './fault.js'
import { Load } from './load/load.js'
import { countOf, type Row } from './row.js'
import { maxStalenessSeconds, type Stage } from './stage/stage.js'

const beforeMs = 1_000
const afterMs = 1_000
const recoverMs = 90_000
const settleMs = 60_000
/** A timer of a busy machine, and an answer that was under way. */
const slackMs = 5_000
const lookEveryMs = 200

/** One after the other on a stage. */
export class FaultRuns {
  readonly #memory = new Memory()
  #runs = 0

  constructor(
    private readonly stage: Stage,
    private readonly life: Life,
  ) {}

  /** Lets the platform face a fault under load, and compares once it is quiet. */
  async run(fault: Fault): Promise<Row> {
    const { stage, life } = this
    const prefix = `run-${++this.#runs}`
    const load = new Load(stage, life, prefix)
    const startedAt = performance.now()
    const starts = stage.processes.map((process) => process.starts)
    await load.provision()
    load.start()
    let undo: Undo = nothing
    let isUndone = false
    let recoverSeconds = Number.NaN
    let needed: string[] = []
    let recoveredLast = ''
    try {
      await sleep(beforeMs, undefined, { signal: life.signal })
      undo = await fault.inject(stage)
      await sleep(fault.holdMs, undefined, { signal: life.signal })
      isUndone = true
      const told = await undo()
      const undoneAt = performance.now()
      const { left, last } = await untilServed(stage, load, life)
      needed = [...told, ...left]
      recoveredLast = last
      recoverSeconds = Math.round((performance.now() - undoneAt) / 100) / 10
      await sleep(afterMs, undefined, { signal: life.signal })
    } finally {
      if (!isUndone) await undo()
      await load.stop(life.signal.aborted ? 0 : settleMs)
    }
    await untilTrialsEnd(load)
    needed.push(...(await untilQuiet(stage)))
    const died = stage.processes.filter((process, index) => process.starts > starts[index]!)
    if (!fault.endsProcesses) needed.push(...died.map(({ name }) => `${name} ended`))
    const { ledger } = load
    const facts = await readFacts(stage, ledger, { memory: this.#memory, prefix, needed })
    const promised = { stalenessMs: maxStalenessSeconds * 1_000 + slackMs, isFull: fault.isFull ?? false }
    const findings = findFaults(ledger, facts, promised)
    return {
      fault: fault.name,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      ...ledger.answers,
      lost: countOf(findings, 'lost'),
      doubled: countOf(findings, 'doubled'),
      wrong: countOf(findings, 'wrong'),
      quietWorstMs: ledger.quiet.worstMs,
      recoverSeconds,
      recoveredLast,
      findings,
    }
  }
}

/** Answers what did not come back by itself, which processes are given a hand for then, and what was the last to come back. */
async function untilServed(stage: Stage, load: Load, life: Life): Promise<{ left: string[]; last: string }> {
  const end = performance.now() + recoverMs
  let last = ''
  const unserved = new Map([...load.doors].map(([name, door]) => [name, { door, why: '' }]))
  for (;;) {
    const unready = await stage.unready()
    await Promise.all(
      [...unserved].map(async ([name, one]) => {
        const why = await load.whyNotServed(one.door)
        if (why === null) unserved.delete(name)
        else one.why = why
      }),
    )
    if (unready.length === 0 && unserved.size === 0) return { left: [], last }
    last = [...unready.map(({ name }) => name), ...[...unserved].map(([name, { why }]) => `${name} (${why})`)].join(', ')
    if (performance.now() > end) {
      for (const process of unready) process.kill()
      const doors = [...unserved].map(([name, { why }]) => `${name} did not serve any more: ${why}`)
      return { left: [...unready.map(({ name }) => `${name} needed a hand`), ...doors], last }
    }
    await sleep(lookEveryMs, undefined, { signal: life.signal })
  }
}

async function untilTrialsEnd({ ledger }: Load): Promise<void> {
  const ends = ledger.holders.flatMap(({ steps }) => steps.filter(({ isByTime }) => isByTime).map(({ doneAt }) => doneAt!))
  await sleep(Math.max(0, Math.max(...ends, 0) - Date.now()))
}
