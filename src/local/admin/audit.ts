/** `audit export`: the audit log of an environment, a line of JSON for each entry. */
import type { AuditEntry } from '../../audit/model/entry.js'
import type { Command } from '../../cli/command-line.js'
import { environmentOption } from '../../cli/entries.js'
import { text, UsageError, type Values } from '../../cli/input.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type AdminContext, findEnvironment } from './context.js'

export const auditExport: Command<AdminContext> = {
  name: 'audit export',
  argument: null,
  summary: 'Prints the audit log, the oldest entry first, as a line of JSON for each (NDJSON)',
  options: {
    environment: environmentOption,
    from: { type: 'string', help: 'first instant, such as 2030-01-31 or 2030-01-31T09:30:00Z' },
    to: { type: 'string', help: 'instant before which it ends; now unless given' },
  },
  async run({ environments, auditLog, write }, values) {
    const { id } = await findEnvironment(environments, values)
    const range = { from: instantOf(values, 'from'), to: instantOf(values, 'to') }
    for await (const entries of auditLog.export(id, range))
      await write(entries.map((entry) => `${JSON.stringify(shown(entry))}\n`).join(''))
    return { text: '', json: null }
  },
}

const shown = ({ environmentId: _, at, ...entry }: AuditEntry) => ({ at: new Date(at).toISOString(), ...entry })

function instantOf(values: Values, option: string): EpochMs | null {
  const given = text(values[option])
  if (given === undefined) return null
  const at = Date.parse(given)
  if (!/^\d{4}-/.test(given) || Number.isNaN(at))
    throw new UsageError(`--${option} must be a time such as 2030-01-31T00:00:00Z, not "${given}"`)
  return at
}
