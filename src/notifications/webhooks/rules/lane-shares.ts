import { shareOf } from '../../../kernel/crowd.js'
import { Tally } from '../../../kernel/tally.js'

/**
 * The environments that get no lane beyond those that they have: whoever is alone leaves one of all, and of several each has half of what the others leave. So a
 * few with slow endpoints leave lanes to others. `running`: the environment of each lane.
 */
export function withTheirShare(running: readonly string[], most: number): string[] {
  const lanes = new Tally()
  for (const environmentId of running) lanes.add(environmentId, 1)
  const taken = running.length
  return [...new Set(running)].filter((environmentId) => {
    const own = lanes.of(environmentId)
    return own >= Math.max(1, own === taken ? most - 1 : shareOf({ most, taken, own }))
  })
}
