import { runProcess } from '../platform/process.js'
import { sidecarDefinition } from './config.js'
import { startSidecar } from './start.js'

/** Answers entitlement checks over gRPC next to an application. Copies share nothing; any number may run. */
await runProcess(sidecarDefinition, async (config, life) => {
  await startSidecar(config, life)
})
