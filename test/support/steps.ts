/** The types are those of an older Node. */
const { threadCpuUsage } = process as unknown as { threadCpuUsage: () => NodeJS.CpuUsage }
const cpuMs = () => {
  const { user, system } = threadCpuUsage.call(process)
  return (user + system) / 1_000
}

/** The most CPU time of this thread in which nobody else was served; the least of three times, as garbage is collected in some. */
export async function longestStepMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < 3; time++) {
    let [longest, since] = [0, cpuMs()]
    const look = () => {
      const now = cpuMs()
      longest = Math.max(longest, now - since)
      since = now
    }
    let turn = setImmediate(function next() {
      look()
      turn = setImmediate(next)
    })
    await work()
    look()
    clearImmediate(turn)
    times.push(longest)
  }
  return Math.min(...times)
}

/** What all steps come to, done at once. */
export function ended<T>(steps: Generator<void, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
