/** The processes that faults are injected into: those of the Procfile, so that a new one is never forgotten. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseProcfile } from '../../../src/local/processes/procfile.js'

const procfile = fileURLToPath(new URL('../../../../Procfile', import.meta.url))

/** All that keep running; of each two copies are. */
export const types: readonly string[] = parseProcfile(readFileSync(procfile, 'utf8')).flatMap(({ name }) =>
  name === 'release' ? [] : name,
)

/** What a process reaches over a way that can be cut; the receiver is that of webhooks. */
export type Link = 'postgres' | 'redis' | 'web' | 'receiver'

const ownLinks: Readonly<Record<string, readonly Link[]>> = {
  sidecar: ['web'],
  'queue-consumption': ['redis', 'web'],
  'webhook-delivery': ['postgres', 'receiver'],
}

export const linksOf = (type: string): readonly Link[] => ownLinks[type] ?? ['postgres', 'redis']
