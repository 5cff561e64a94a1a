import { setFlagsFromString } from 'node:v8'
import { loadTracing } from '../platform/cloud/traces.js'
import { runProcess } from '../platform/process.js'
import { startSidecar } from '../wiring/sidecar.js'
import { sidecarDefinition } from './config/config.js'
import { v8Flags } from './config/v8-flags.js'

for (const flag of v8Flags) setFlagsFromString(flag)

/** Answers entitlement checks over gRPC next to an application. Copies share nothing; any number may run. */
await runProcess({ ...sidecarDefinition, loadTracing }, async (config, life) => {
  await startSidecar(config, life, () => import('../wiring/sidecar-direct-queue.js'))
})
