/** The PostgreSQL that is the truth. */
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Fault, nothing, type Undo } from '../fault.js'
import type { Stage } from '../stage/stage.js'

const pauses = [3, 10, 60]
/** More than it has. */
const mostConnections = 250
const hogEveryMs = 20
const hogCallers = 4
const hogBeforeMs = 1_500

const stops = pauses.map(
  (seconds): Fault => ({
    name: `pause-postgres-${seconds}s`,
    about: `PostgreSQL stands still for ${seconds} s`,
    holdMs: seconds * 1_000,
    async inject({ postgres }) {
      postgres.pause()
      return async () => {
        postgres.resume()
        return []
      }
    },
  }),
)

/** Under another value for so long. */
const settingFault = (fault: Omit<Fault, 'inject'>, name: string, value: string): Fault => ({
  ...fault,
  async inject({ postgres }) {
    await postgres.set(name, value)
    return async () => {
      await postgres.set(name, null)
      return []
    }
  },
})

const stalled = (seconds: number): Fault =>
  settingFault(
    {
      name: `postgres-stalled-${seconds}s`,
      about: `commits of PostgreSQL wait for ${seconds} s, for a standby that is not there`,
      holdMs: seconds * 1_000,
    },
    'synchronous_standby_names',
    'nobody',
  )

export const postgresFaults: readonly Fault[] = [
  {
    name: 'postgres-killed',
    about: 'PostgreSQL is killed and comes back after 2 s',
    isQuick: true,
    holdMs: 2_000,
    async inject({ postgres }) {
      await postgres.kill()
      return async () => {
        await postgres.start()
        return []
      }
    },
  },
  {
    name: 'postgres-restarted',
    about: 'PostgreSQL is restarted as operators do it',
    holdMs: 0,
    async inject({ postgres }) {
      await postgres.stop('SIGINT')
      return async () => {
        await postgres.start()
        return []
      }
    },
  },
  settingFault(
    { name: 'postgres-read-only', about: 'PostgreSQL takes no writes for 15 s', holdMs: 15_000 },
    'default_transaction_read_only',
    'on',
  ),
  stalled(4),
  stalled(12),
  {
    name: 'postgres-out-of-connections',
    about: 'others have all connections of PostgreSQL for 10 s, those of the platform too',
    holdMs: 10_000,
    inject: hogConnections,
  },
  {
    name: 'postgres-disk-full',
    about: 'the disk of PostgreSQL is full for 8 s',
    needsSmallVolume: true,
    holdMs: 8_000,
    inject: fillDisk,
  },
  {
    name: 'postgres-promoted',
    about: 'PostgreSQL is killed, and its synchronous standby takes its place',
    holdMs: 0,
    async inject(stage) {
      const standby = await stage.postgres.startStandby(stage.nextFolder('standby'))
      await stage.postgres.set('synchronous_standby_names', '*')
      await stage.wait(2_000)
      await stage.postgres.kill()
      await standby.promote()
      stage.replacePostgres(standby)
      return nothing
    },
  },
  ...stops,
]

async function hogConnections({ postgres }: Stage): Promise<Undo> {
  const hogs: pg.Client[] = []
  let isOver = false
  const hog = async () => {
    while (!isOver) {
      const client = hogs.length < mostConnections ? await postgres.connect().catch(() => null) : null
      if (client) hogs.push(client)
      else await sleep(hogEveryMs)
    }
  }
  const killer = await postgres.connect()
  const hogging = Promise.all(Array.from({ length: hogCallers }, hog))
  await sleep(hogBeforeMs)
  // What the platform had is gone too.
  await killer.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tollgate %'`)
  await killer.end()
  return async () => {
    isOver = true
    await hogging
    await Promise.all(hogs.map((client) => client.end().catch(() => undefined)))
    return []
  }
}

async function fillDisk({ volume, postgres }: Stage): Promise<Undo> {
  if (volume === null || !postgres.data.startsWith(volume)) throw new Error('PostgreSQL has no volume that can be filled')
  await postgres.query('CHECKPOINT')
  const file = join(volume, 'filler')
  const filler = await open(file, 'w')
  const block = Buffer.alloc(1_048_576)
  try {
    // What is freed meanwhile is taken too.
    for (let free = 1; free > 0; free = statfsSync(volume).bavail) await filler.write(block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await filler.close()
  }
  return async () => {
    rmSync(file)
    await postgres.startUnlessRunning()
    return []
  }
}
