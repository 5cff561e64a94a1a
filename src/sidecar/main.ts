import { setFlagsFromString } from 'node:v8'
import { runProcess } from '../platform/process.js'
import { startSidecar } from '../wiring/sidecar.js'
import { sidecarDefinition } from './config/config.js'

// Garbage may grow to 40 % of what is live before V8 collects it. By itself V8 lets it grow to several times that, and CACHE_MAX_SIZE_BYTES would say
// little about the memory that is taken.
setFlagsFromString('--heap-growing-percent=40')
// With the old heap kept so small, what a call leaves behind must die young: room for it costs a few megabytes and saves a fifth of the CPU per call.
setFlagsFromString('--min-semi-space-size=16')
// V8 would take the parts of a call for long-lived ones once many of them outlived a collection, put them among the old objects, and there they keep
// alive all that they point to: each call is copied, and the whole cache marked again and again.
setFlagsFromString('--no-allocation-site-pretenuring')

/** Answers entitlement checks over gRPC next to an application. Copies share nothing; any number may run. */
await runProcess(sidecarDefinition, async (config, life) => {
  // Started by the SDK it ends with the application, however that ends: the channel between the two closes.
  if (process.connected) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  await startSidecar(config, life)
})
