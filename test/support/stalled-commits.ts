import pg from 'pg'
import { administer, requiredVariable } from './database.js'
import { eventually } from './eventually.js'

/** Sessions of a test that commits are to stall in: the server of the tests has them wait for no standby otherwise. */
export const stallingSession = { synchronous_commit: 'on' }

/**
 * Has commits of `stallingSession` wait for a standby that there is not, for as long as `work` takes: they are on disk then, and neither answered nor seen,
 * and keep their locks. Afterwards all of them are done.
 */
export async function whileCommitsStall<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
  const name = (value: string) =>
    administer(requiredVariable('TEST_DATABASE_URL'), async (client) => {
      await client.query(
        value === '' ? 'ALTER SYSTEM RESET synchronous_standby_names' : `ALTER SYSTEM SET synchronous_standby_names = '${value}'`,
      )
      await client.query('SELECT pg_reload_conf()')
    })
  const probe = new pg.Client({ connectionString: databaseUrl, options: '-c synchronous_commit=on' })
  await probe.connect()
  let probed: Promise<unknown> | undefined
  try {
    await name('nobody')
    await eventually('a commit to stall', async () => {
      probed ??= probe.query(`SELECT pg_logical_emit_message(true, 'probe', '')`).then(() => {
        probed = undefined
      })
      return stalledCommits(databaseUrl).then((count) => count > 0)
    })
    return await work()
  } finally {
    await name('')
    await probed
    await probe.end()
  }
}

/** Commits that wait for a standby. */
export const stalledCommits = (databaseUrl: string): Promise<number> =>
  administer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()`,
    )
    return rows[0]!.count
  })
