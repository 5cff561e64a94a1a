// Runs the platform runner on the folder named by the first argument, as `npm start` does on the project's own.
import { setTimeout as sleep } from 'node:timers/promises'
import { runFromTerminal } from '../../../src/local/terminal.js'

await runFromTerminal({
  root: process.argv[2] ?? '',
  prepareExample: async () => {
    await sleep(Number(process.env.FIXTURE_PREPARE_MS ?? 0))
    const keys = { serverApiKey: 'server-key', operatorKey: 'operator-key', secretsKey: 'secrets-key' }
    return { environmentId: 'environment-1', environmentRefId: 'example', ...keys }
  },
})
