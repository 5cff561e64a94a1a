import type { AuditLog } from '../../audit/log.js'
import type { AuditedChange } from '../../audit/model/entry.js'
import type { CatalogService } from '../../catalog/service.js'
import type { UnreadableChanges } from '../../changes/unreadable.js'
import { chooseEnvironment, type Values } from '../../cli/input.js'
import type { EntitlementService } from '../../entitlement/service.js'
import type { Environment } from '../../environment/model/environment.js'
import type { EnvironmentService } from '../../environment/service.js'
import type { Clock } from '../../kernel/clock.js'
import type { WebhookService } from '../../notifications/webhooks/service.js'
import type { DeadLetters } from '../../platform/dead-letters.js'
import type { Redis } from '../../platform/redis.js'
import type { Place } from '../../updates/wire/queue-message.js'

/** What the commands of an operator work with. */
export interface AdminContext {
  auditLog: AuditLog
  /** Writes down a change of what is not in the database, before it is made. */
  record(change: AuditedChange): Promise<void>
  /** Prints lines as they are, and waits until there is room for more. */
  write(lines: string): Promise<void>
  /** Of the queues; connects when it is asked for. */
  deadLetters(): DeadLetters
  unreadableChanges: UnreadableChanges
  /** The platform's; connects when it is asked for. */
  redis(): Redis
  /** Of all queue keys. */
  queuePrefix: string
  environments: EnvironmentService
  entitlements: Pick<EntitlementService, 'state'>
  /** Up to where the queue of the environment was told; null: nothing was. */
  toldUpTo(environmentId: string): Promise<Place | null>
  /** A Redis that is not the platform's. */
  redisAt(url: string): Redis
  catalog: CatalogService
  clock: Clock
  /** Where file names start from. */
  folder: string
  /** Needs SECRETS_KEY. */
  webhooks(): WebhookService
  print: (text: string) => void
  /** Aborts when whoever called wants a command to end that runs until then. */
  stopped(): AbortSignal
}

export const findEnvironment = async (environments: EnvironmentService, values: Values): Promise<Environment> =>
  chooseEnvironment(await environments.list(), values)
