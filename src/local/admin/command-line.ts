/** The command line of an operator: environments, keys and the catalog, straight in the database. */

import { AuditLog } from '../../audit/log.js'
import { operatorActor } from '../../audit/model/entry.js'
import { originating } from '../../audit/record/origin.js'
import { recordAudit } from '../../audit/record/record.js'
import { findSoldTerms } from '../../billing/sold-terms.js'
import { CatalogService } from '../../catalog/service.js'
import { UnreadableChanges } from '../../changes/unreadable.js'
import { type Answer, type Program, readCommand } from '../../cli/command-line.js'
import { UsageError } from '../../cli/input.js'
import { type CatalogProblem, describeProblems } from '../../cli/output.js'
import { EntitlementService } from '../../entitlement/service.js'
import { keyNewsTeller } from '../../environment/key-news.js'
import { EnvironmentService } from '../../environment/service.js'
import { Problem } from '../../kernel/problem.js'
import { Sealing, secretsKeyVariable } from '../../notifications/webhooks/secrets.js'
import { WebhookService } from '../../notifications/webhooks/service.js'
import { ConfigError, readConfig } from '../../platform/config.js'
import { DatabaseClock } from '../../platform/database-clock.js'
import { DeadLetters } from '../../platform/dead-letters.js'
import { StartError } from '../../platform/health.js'
import { silentLogger } from '../../platform/logger.js'
import { connectPostgres } from '../../platform/postgres.js'
import { Life } from '../../platform/process.js'
import { openRedis } from '../../platform/redis.js'
import { inPoolTransaction } from '../../platform/transaction.js'
import { startMigrations } from '../../subscription/records/migrations.js'
import { loadOpenSubscriptions } from '../../subscription/records/subscriptions.js'
import { placeOfFeed } from '../../updates/deliver/feed-epochs.js'
import { commands } from './commands.js'
import type { AdminContext } from './context.js'

interface AdminOptions {
  /** What was typed after `npm run admin --`. */
  args: string[]
  /** Null: there is no database to work on. */
  databaseUrl: string | null
  /** Null or absent: there is no Redis to work on. */
  redisUrl?: string | null
  /** Of all queue keys. */
  queuePrefix?: string
  /** SECRETS_KEY of the platform; null or absent: it is not known. */
  secretsKey?: string | null
  /** Where file names start from. */
  folder: string
  print: (text: string) => void
  /** Prints lines as they are, and waits until there is room for more; absent: `print` does. */
  write?: (lines: string) => Promise<void>
  printError: (text: string) => void
}

/** Runs one command. Answers the exit code: 0 done, 1 refused or failed or differences were found, 2 the command line is wrong. */
export async function runAdmin({
  args,
  databaseUrl,
  redisUrl,
  queuePrefix = '{tollgate}',
  secretsKey = null,
  folder,
  print,
  write = async (lines) => print(lines.trimEnd()),
  printError,
}: AdminOptions): Promise<0 | 1 | 2> {
  const isJson = args.includes('--json')
  try {
    const typed = readCommand(program, args)
    if ('help' in typed) {
      print(typed.help)
      return 0
    }
    if (databaseUrl === null) throw new UsageError('no database: set DATABASE_URL, or start the platform (npm start) and try again')
    const answer = await withServices(
      { databaseUrl, redisUrl: redisUrl ?? null, queuePrefix, secretsKey, folder, print, write },
      (context) =>
        originating({ actor: operatorActor, operation: `admin ${typed.command.name}`, address: null, traceId: null }, () =>
          typed.command.run(context, typed.values, typed.argument),
        ),
    )
    if (answer.text !== '') print(isJson ? JSON.stringify(answer.json, null, 2) : answer.text)
    return answer.hasDifferences ? 1 : 0
  } catch (error) {
    printError(isJson ? JSON.stringify(errorAsJson(error), null, 2) : errorAsText(error))
    return error instanceof UsageError ? 2 : 1
  }
}

const program: Program<AdminContext> = {
  call: 'npm run -s admin --',
  commands,
  about: `It works on the database of DATABASE_URL, past a PgBouncer on that of DATABASE_DIRECT_URL, else on that of the platform that npm start runs in this folder.
Exit codes: 0 done, 1 refused or failed, or differences were found, 2 wrong command line.`,
}

/** Opens the database for one command. The deliverer of changes finds by itself what a command has changed, within its sweep. */
async function withServices(
  {
    databaseUrl,
    redisUrl,
    queuePrefix,
    secretsKey,
    folder,
    print,
    write,
  }: Required<Pick<AdminOptions, 'queuePrefix' | 'folder' | 'print'>> &
    Pick<AdminContext, 'write'> & {
      databaseUrl: string
      redisUrl: string | null
      secretsKey: string | null
    },
  work: (context: AdminContext) => Promise<Answer>,
): Promise<Answer> {
  const life = new Life('admin', silentLogger())
  try {
    const { prisma, pool } = await connectPostgres(life, databaseUrl, { poolSize: 2 })
    const clock = await DatabaseClock.read(pool)
    const environments = new EnvironmentService({
      prisma,
      clock,
      ...(redisUrl === null ? {} : { tellCreated: keyNewsTeller(life, { redisUrl, prefix: queuePrefix }) }),
    })
    const catalog = new CatalogService({ prisma, clock, startMigrations, nudge: () => undefined })
    const entitlements = new EntitlementService({
      prisma,
      catalog,
      clock,
      unfilled: () => undefined,
      openSubscriptions: (db, environmentId, customerIds) => loadOpenSubscriptions(db, catalog, environmentId, customerIds),
      soldTerms: findSoldTerms,
    })
    const redis = () => {
      if (redisUrl === null) throw new UsageError('no Redis: set REDIS_URL, or start the platform (npm start) and try again')
      return openRedis(life, redisUrl, 'request')
    }
    const webhooks = () => {
      const config = readConfig({ SECRETS_KEY: secretsKeyVariable }, { SECRETS_KEY: secretsKey ?? undefined })
      return new WebhookService({ prisma, sealing: new Sealing(config.SECRETS_KEY), targets: 'loopback too', clock })
    }
    const deadLetters = () => new DeadLetters(redis(), queuePrefix)
    return await work({
      auditLog: new AuditLog(prisma),
      record: (change) => inPoolTransaction(pool, async (db) => recordAudit(db, change)),
      write,
      environments,
      entitlements,
      toldUpTo: (environmentId) => placeOfFeed(pool, environmentId),
      redisAt: (url) => openRedis(life, url, 'request'),
      catalog,
      clock,
      folder,
      deadLetters,
      unreadableChanges: new UnreadableChanges(pool),
      redis,
      queuePrefix,
      webhooks,
      print,
      stopped: untilInterrupted,
    })
  } finally {
    await life.stop()
  }
}

function untilInterrupted(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

function errorAsText(error: unknown): string {
  if (error instanceof UsageError || error instanceof StartError || error instanceof ConfigError) return error.message
  if (!(error instanceof Problem)) return error instanceof Error && error.stack ? error.stack : String(error)
  const problems = error.details.problems as CatalogProblem[] | undefined
  return problems ? describeProblems(problems) : error.message
}

function errorAsJson(error: unknown) {
  if (error instanceof UsageError) return { error: { reason: 'USAGE', message: error.message } }
  if (error instanceof StartError) return { error: { reason: 'UNAVAILABLE', message: error.message } }
  const { reason, message, details } = Problem.from(error)
  return { error: { reason, message, details } }
}
