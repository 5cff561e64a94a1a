/** How V8 collects garbage in a sidecar; set before anything of it is made. */
export const v8Flags = [
  // Garbage may grow to 40 % of what is live before V8 collects it. By itself V8 lets it grow to several times that, and CACHE_MAX_SIZE_BYTES would
  // say little about the memory that is taken.
  '--heap-growing-percent=40',
  // With the old heap kept so small, what a call leaves behind must die young: room for it costs a few megabytes and saves a fifth of the CPU per call.
  '--min-semi-space-size=16',
  // V8 would take the parts of a call for long-lived ones once many of them outlived a collection, put them among the old objects, and there they keep
  // alive all that they point to: each call is copied, and the whole cache marked again and again.
  '--no-allocation-site-pretenuring',
]
