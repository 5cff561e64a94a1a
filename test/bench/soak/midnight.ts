// `npm run -s soak:midnight [-- MINUTES_BEFORE MINUTES_AFTER]`: everything but the sidecar is stopped so long before an instant at which much is due, and
// started so long after it (10 and 20 unless said). Every check in between must be right, and the records must agree afterwards. On servers of its
// own, or those of TEST_DATABASE_URL and TEST_REDIS_URL.
import { fileURLToPath } from 'node:url'
import { runMidnight } from '../../e2e/midnight-run.js'
import { startTestServices } from '../../support/services.js'
import { describeMachine } from '../figures/machine.js'

const [minutesBefore = 10, minutesAfter = 20] = process.argv.slice(2).map(Number)
const minute = 60_000

const services = await startTestServices(fileURLToPath(new URL('../../../../', import.meta.url)), new AbortController().signal)
Object.assign(process.env, services.env)
try {
  console.error(describeMachine())
  console.error(`stopped ${minutesBefore} minutes before the instant, started ${minutesAfter} minutes after it`)
  const { before, after } = await runMidnight({
    setupMs: 60_000,
    beforeMs: minutesBefore * minute,
    afterMs: minutesAfter * minute,
    pauseMs: 250,
  })
  console.log(`${before} checks before the instant and ${after} after it were right, and the records agree`)
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await services.stop()
}
process.exit()
