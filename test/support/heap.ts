import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Memory in use, when all that nobody holds is gone. In MB-sized differences it is exact to some percent, in a process that does nothing else. */
export function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 4; times++) collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
