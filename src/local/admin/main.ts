// `npm run admin -- …`, on the database of DATABASE_URL (of DATABASE_DIRECT_URL where that is a PgBouncer), else on that of the platform that runs from this folder.
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readPlatform } from '../platform-file.js'
import { runAdmin } from './command-line.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const platform = readPlatform(join(root, '.data'))
process.exitCode = await runAdmin({
  args: process.argv.slice(2),
  databaseUrl: process.env.DATABASE_DIRECT_URL || process.env.DATABASE_URL || (platform?.databaseUrl ?? null),
  redisUrl: process.env.REDIS_URL || (platform?.redisUrl ?? null),
  queuePrefix: process.env.QUEUE_PREFIX || undefined,
  secretsKey: process.env.SECRETS_KEY || (platform?.secretsKey ?? null),
  // npm runs scripts in the project's folder and says here where it was called.
  folder: process.env.INIT_CWD ?? process.cwd(),
  print: (text) => console.log(text),
  write: async (lines) => {
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
  },
  printError: (text) => console.error(text),
})
