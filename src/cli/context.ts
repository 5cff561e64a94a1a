import type { EpochMs } from '../kernel/clock.js'
import type { Api } from './api.js'

/** What commands work with. Keys are asked for only by the commands that need them. */
export interface CliContext {
  /** With the API key: one environment. */
  catalog(): Api
  /** With the operator key: all environments. */
  operator(): Api
  /** Where file names start from. */
  folder: string
  now: EpochMs
}
