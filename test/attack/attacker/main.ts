// An attacker in a process of its own, nicer than what it attacks: gets its orders as a message, attacks, answers with its counts, and ends.
import { setPriority } from 'node:os'
import type { Target } from '../attack.js'
import { attacks } from '../attacks.js'
import { Attacker } from './attacker.js'

export interface Orders {
  attack: string
  target: Target
  seconds: number
  /** Among those that attack at a time. */
  index: number
}

export interface Counts {
  tried: number
  refused: number
  granted: number
  faults: number
}

/** An attack gets this long to see its end. */
const graceMs = 1_000

setPriority(19)
process.on('disconnect', () => process.exit())
process.once('message', async ({ attack, target, seconds, index }: Orders) => {
  const attacker = new Attacker(target, AbortSignal.timeout(seconds * 1_000), index)
  const run = attacks.find(({ name }) => name === attack)!.run(attacker)
  const late = attacker.wait().then(() => new Promise((resolve) => setTimeout(resolve, graceMs)))
  await Promise.race([run, late])
  const { tried, refused, granted, faults } = attacker
  process.send!({ tried, refused, granted, faults } satisfies Counts, () => process.exit())
})
