import { runProcess } from '../platform/process.js'
import { sidecarDefinition } from './config.js'
import { startSidecar } from './start.js'

/** Answers entitlement checks over gRPC next to an application. Copies share nothing; any number may run. */
await runProcess(sidecarDefinition, async (config, life) => {
  // Started by the SDK it ends with the application, however that ends: the channel between the two closes.
  if (process.connected) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  await startSidecar(config, life)
})
