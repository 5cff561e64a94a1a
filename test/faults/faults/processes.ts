/** Processes that are killed, stand still, or have the wrong time. */
import { type Fault, nothing } from '../fault.js'
import { types } from '../stage/process-types.js'

const mostApartMs = 2_500
const pauses = [3, 10, 60]
const clockAhead = new URL('../../support/shifted-clock.js?ahead=3600000', import.meta.url).href

const kills = types.flatMap((type): Fault[] => [
  {
    name: `kill-${type}`,
    about: `kill -9 of one ${type}, and at a random moment after it of the other`,
    endsProcesses: true,
    holdMs: 500,
    async inject(stage) {
      const [first, second] = stage.of(type)
      first!.kill()
      await stage.wait(Math.random() * mostApartMs)
      second!.kill()
      return nothing
    },
  },
  {
    name: `kill-both-${type}`,
    about: `kill -9 of both copies of ${type} at once`,
    endsProcesses: true,
    holdMs: 500,
    async inject(stage) {
      for (const process of stage.of(type)) process.kill()
      return nothing
    },
  },
])

const stops = types.flatMap((type) =>
  pauses.map(
    (seconds): Fault => ({
      name: `pause-${type}-${seconds}s`,
      about: `SIGSTOP of one ${type} for ${seconds} s`,
      isQuick: type === 'web' && seconds === 3,
      holdMs: seconds * 1_000,
      async inject(stage) {
        const process = stage.of(type)[0]!
        process.pause()
        return async () => {
          process.resume()
          return []
        }
      },
    }),
  ),
)

const clocks = types.map(
  (type): Fault => ({
    name: `clock-${type}`,
    about: `the clock of one ${type} an hour ahead`,
    endsProcesses: true,
    holdMs: 4_000,
    async inject(stage) {
      const process = stage.of(type)[0]!
      await process.restart(['--import', clockAhead])
      return async () => {
        await process.restart([])
        return []
      }
    },
  }),
)

export const processFaults: readonly Fault[] = [...kills, ...stops, ...clocks]
