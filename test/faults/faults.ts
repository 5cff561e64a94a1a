import type { Fault } from './fault.js'
import { nothing } from './fault.js'
import { jobFaults } from './faults/jobs.js'
import { networkFaults } from './faults/network.js'
import { postgresFaults } from './faults/postgres.js'
import { processFaults } from './faults/processes.js'
import { redisFaults } from './faults/redis.js'
import { rowFaults } from './faults/rows.js'
import { windowFaults } from './faults/windows.js'

/** What all others are to be compared with, and what warms the platform up. */
export const noFault: Fault = { name: 'none', about: 'nothing goes wrong', holdMs: 2_000, inject: async () => nothing }

export const faults: readonly Fault[] = [
  ...processFaults,
  ...windowFaults,
  ...redisFaults,
  ...postgresFaults,
  ...networkFaults,
  ...jobFaults,
  ...rowFaults,
]
