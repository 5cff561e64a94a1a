import { ReaderFigures, type ReaderMetrics } from '../../reader/states/figures.js'
import type { Hooks } from './options.js'

/** What a client counts. */
export class ClientMetrics extends ReaderFigures implements ReaderMetrics {
  readonly apiSeconds: ReaderMetrics['apiSeconds']

  constructor({ request }: Hooks) {
    super()
    const untold = () => {}
    this.apiSeconds = {
      startTimer({ operation }) {
        if (request === undefined) return untold
        const startedAt = performance.now()
        return ({ outcome }) => tell(() => request({ operation, outcome, ms: performance.now() - startedAt }))
      },
    }
  }
}

/** Calls a hook: what it throws is its own affair. */
export function tell(hook: () => void): void {
  try {
    hook()
  } catch {
    // Said in the description of the hooks.
  }
}
