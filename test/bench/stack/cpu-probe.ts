// Loaded into a server under measurement (`node --import`): answers "cpu" with the CPU time that the process used so far, in microseconds, and "heap" with
// the bytes of its heap after a garbage collection. Ends the process when the benchmark is gone.
process.on('message', (question) => {
  if (question === 'heap') {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    process.send?.(heapUsed + external)
    return
  }
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.on('disconnect', () => process.exit())
