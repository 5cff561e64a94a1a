import type pg from 'pg'
import type { AuditedChange } from '../audit/model/entry.js'
import { recordAudit } from '../audit/record/record.js'
import { Problem } from '../kernel/problem.js'
import type { DeadLetter } from '../platform/dead-letters.js'
import { inPoolTransaction } from '../platform/transaction.js'
import { type AuditedDeadLetter, auditedDiscarding, auditedRetry } from './model/audited.js'

const maxShown = 200
/** Of ids: no queue is called so. */
const place = 'outbox'

interface UnreadableRow {
  id: string
  environmentId: string
  kind: string
  attempts: number
  reason: string
  createdAt: number
  data: unknown
}

/**
 * Changes that the release which was given them could not read, as dead letters. They are tried again by themselves, so that a release that can read them
 * needs nobody's help.
 */
export class UnreadableChanges {
  constructor(private readonly pool: pg.Pool) {}

  static isOf(id: string): boolean {
    return id.startsWith(`${place}/`)
  }

  /** The latest first. */
  async list(): Promise<DeadLetter[]> {
    return (await this.#find('')).map(toLetter)
  }

  /** Fails with NOT_FOUND. */
  async show(id: string): Promise<DeadLetter> {
    const [row] = await this.#find('AND id::text = $1', [rowIdOf(id)])
    if (!row) throw notFound(id)
    return toLetter(row)
  }

  /** The next sweep gives it to a worker. */
  async retry(id: string): Promise<void> {
    await this.#change(id, 'UPDATE outbox_message SET claimed_until = NULL', auditedRetry)
  }

  async discard(id: string): Promise<void> {
    await this.#change(id, 'DELETE FROM outbox_message', auditedDiscarding)
  }

  async #find(condition: string, values: string[] = []): Promise<UnreadableRow[]> {
    const { rows } = await this.pool.query<UnreadableRow>({
      text: `
        SELECT id, environment_id AS "environmentId", kind::text AS kind, attempts, unreadable AS reason,
          (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt",
          jsonb_build_object('customerId', customer_id, 'resourceId', resource_id, 'version', version, 'payload', payload, 'told', told) AS data
        FROM outbox_message WHERE unreadable IS NOT NULL ${condition} ORDER BY created_at DESC LIMIT ${maxShown}`,
      values,
    })
    return rows
  }

  async #change(id: string, statement: string, audited: (letter: AuditedDeadLetter) => AuditedChange): Promise<void> {
    await inPoolTransaction(this.pool, async (db) => {
      const { rows } = await db.query<Omit<AuditedDeadLetter, 'id'>>(
        `${statement} WHERE unreadable IS NOT NULL AND id::text = $1 RETURNING environment_id AS "environmentId", kind::text AS job, attempts`,
        [rowIdOf(id)],
      )
      if (!rows[0]) throw notFound(id)
      recordAudit(db, audited({ id, ...rows[0] }))
    })
  }
}

const rowIdOf = (id: string): string => id.slice(place.length + 1)

const notFound = (id: string) =>
  new Problem('NOT_FOUND', 'DEAD_LETTER_NOT_FOUND', `There is no change ${id} that could not be read: list shows those that there are.`)

function toLetter({ id, environmentId, kind, attempts, reason, createdAt, data }: UnreadableRow): DeadLetter {
  return {
    id: `${place}/${id}`,
    queue: place,
    job: kind,
    attempts,
    reason,
    failedAt: createdAt,
    data: { environmentId, ...(data as object) },
  }
}
