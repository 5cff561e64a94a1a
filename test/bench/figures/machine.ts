import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'

/** What one needs to know to read the figures, in one line. The load is that of the minute before: call this first. */
export function describeMachine(): string {
  const [load = 0] = loadavg()
  const cores = availableParallelism()
  const facts = [
    cpus()[0]?.model.trim() || 'unknown processor',
    `${cores} cores`,
    `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    `${type()} ${release()}`,
    `Node ${process.versions.node}`,
    `load before ${load.toFixed(2)}`,
  ]
  // Above this, what else runs takes time from the runs at random: interleaving keeps the ratios right, not the figures.
  const isBusy = load > cores / 4
  return facts.join(', ') + (isBusy ? ' (busy: trust the ratios, not the figures)' : '')
}
