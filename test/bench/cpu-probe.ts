// Loaded into a server under measurement (`node --import`): answers every message with the CPU time that the process used so far,
// in microseconds, and ends the process when the benchmark is gone.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.on('disconnect', () => process.exit())
