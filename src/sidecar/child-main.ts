import { setFlagsFromString } from 'node:v8'
import { runProcess } from '../platform/process.js'
import { startSidecar } from '../wiring/sidecar.js'
import { sidecarDefinition } from './config/config.js'
import { v8Flags } from './config/v8-flags.js'

for (const flag of v8Flags) setFlagsFromString(flag)

/** A sidecar that the SDK runs, in the installation of the application: without the way to the queue and without traces, which take what only the platform has installed. */
await runProcess(sidecarDefinition, async (config, life) => {
  // It ends with the application, however that ends: the channel between the two closes.
  const end = () => void process.kill(process.pid, 'SIGTERM')
  if (!process.connected) return end()
  process.once('disconnect', end)
  await startSidecar(config, life, null)
})
