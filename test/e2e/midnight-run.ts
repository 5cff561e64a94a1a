/**
 * An outage over an instant at which much is due, with the real processes: everything but the sidecar is stopped before it and started after it. Whoever
 * asks the sidecar meanwhile is answered as the records say afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createClient } from 'graphql-ws'
import pg from 'pg'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'
import { catalog, type Midnight, openMidnight, type Story, stories } from './midnight-stories.js'

export interface MidnightLengths {
  /** From the first request to the stop: provisioning. */
  setupMs: number
  /** From the stop to the instant, and from the instant to the start. */
  beforeMs: number
  afterMs: number
  /** Between two rounds of all questions. */
  pauseMs: number
}

export interface MidnightResult {
  /** Answers of the sidecar while all else was stopped, before and after the instant. */
  before: number
  after: number
}

/** @throws AssertionError when an answer was wrong, or a record does not agree with what was answered */
export async function runMidnight({ setupMs, beforeMs, afterMs, pauseMs }: MidnightLengths): Promise<MidnightResult> {
  const processes = await OwnProcesses.create(catalog)
  const others = processes.names.filter((name) => name !== 'sidecar')
  try {
    await processes.start(others)
    await processes.start(['sidecar'])
    await warmUp(processes)
    const at = Math.ceil((Date.now() + setupMs + beforeMs) / 1000) * 1000
    const midnight = openMidnight(processes.api, at)
    await Promise.all(stories.map((story) => story.given(midnight, story.customerId)))
    let unknown: string[] = []
    const isAllKnown = async () => {
      unknown = await unknownTo(processes)
      return unknown.length === 0
    }
    await eventually('the sidecar to know everybody', isAllKnown, setupMs).catch((error) =>
      expect(unknown, String(error)).to.deep.equal([]),
    )
    expect(Date.now(), 'the time that provisioning took').to.be.below(at - beforeMs)

    await sleep(at - beforeMs - Date.now())
    await processes.stop(others)
    expect(Date.now(), 'the time that stopping took').to.be.below(at)
    const counts = { before: 0, after: 0 }
    while (Date.now() < at + afterMs) {
      const round = await askAll(processes, at)
      counts.before += round.before
      counts.after += round.after
      await sleep(pauseMs)
    }
    expect(counts.before, 'checks before the instant').to.be.above(0)
    expect(counts.after, 'checks after the instant').to.be.above(0)

    await processes.start(['web'])
    const told = await listen(processes)
    try {
      await processes.start(others.filter((name) => name !== 'web'))
      await checkRecords(processes, midnight, told.customers)
    } finally {
      await told.stop()
    }
    expect(await askAll(processes, at), 'the sidecar when all is back').to.include({ before: 0 })
    await checkFollows(processes, at)
    return counts
  } catch (error) {
    console.error(
      processes.lines
        .filter((line) => /"level":"(warn|error|fatal)"|^\w.*rror/.test(line))
        .slice(-25)
        .join('\n'),
    )
    throw error
  } finally {
    await processes.close()
  }
}

interface Answer {
  has_access: boolean
  is_fallback: boolean
  access_denied_reason?: number
  numeric?: { value?: number }
  metered?: { usage_limit?: number; is_unlimited: boolean; current_usage: number }
  enum?: { enum_values: string[] }
}

/** `7 of 1000`, `eu,us`, `yes`, or `denied` with the number of the reason, and whether it is a fallback. */
async function ask({ sidecar }: OwnProcesses, customerId: string, featureId: string): Promise<string> {
  const request = { customer_id: customerId, feature_id: featureId }
  const {
    has_access,
    is_fallback,
    access_denied_reason,
    numeric,
    metered,
    enum: values,
  } = await sidecar.call<Answer>('GetEntitlement', request)
  const held = metered
    ? `${metered.current_usage} of ${metered.is_unlimited ? 'any' : metered.usage_limit}`
    : (values?.enum_values.join() ?? numeric?.value ?? 'yes')
  return `${has_access ? held : `denied ${access_denied_reason}`}${is_fallback ? ' (fallback)' : ''}`
}

const questions = stories.flatMap((story) =>
  Object.entries(story.expected).map(([featureId, expected]) => ({ story, featureId, ...expected })),
)

/** The first requests that processes answer take long, and the instant is fixed before the others are made. */
async function warmUp({ api }: OwnProcesses): Promise<void> {
  const midnight = openMidnight(api, Date.now())
  await midnight.customer('warm-up')
  await midnight.subscribe('warm-up', 'basic')
  await midnight.report('warm-up', 'calls', 1)
}

/** Whom the sidecar does not answer rightly yet. Before the stop only one feature of each is asked for: the others are as good as never asked. */
async function unknownTo(processes: OwnProcesses): Promise<string[]> {
  const unknown: string[] = []
  for (const { customerId, expected } of stories) {
    const [[featureId, { before }] = ['', { before: '' }]] = Object.entries(expected)
    const answer = await ask(processes, customerId, featureId)
    if (answer !== before) unknown.push(`${customerId}: ${answer}`)
  }
  return unknown
}

/** What decides goes by the database's clock as its answers tell it, which is never ahead and behind by about as long as an answer takes. */
const clockLagMs = 100

/** One round of all questions; an answer that was on its way at the instant may be either. */
async function askAll(processes: OwnProcesses, at: number): Promise<MidnightResult> {
  const counts = { before: 0, after: 0 }
  for (const { story, featureId, before, after } of questions) {
    const from = Date.now()
    const answer = await ask(processes, story.customerId, featureId)
    const moment = Date.now() < at ? 'before' : from >= at + clockLagMs ? 'after' : null
    if (!moment) continue
    const expected = moment === 'before' ? before : after
    expect(answer, `${story.customerId}, ${featureId}, ${from - at} ms after the instant`).to.equal(expected)
    counts[moment] += 1
  }
  return counts
}

/** Who is told of over the WebSocket that host applications listen to. */
async function listen({ api }: OwnProcesses): Promise<{ customers: Set<string>; stop(): Promise<void> }> {
  const customers = new Set<string>()
  const client = createClient({
    url: `${api.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { headers: { 'X-API-KEY': api.apiKey } },
    lazy: false,
    retryAttempts: 0,
    onNonLazyError: () => undefined,
  })
  await new Promise<void>((resolve) => client.on('connected', () => resolve()))
  client.subscribe<{ entitlementsUpdated: { customerId: string } }>(
    { query: 'subscription { entitlementsUpdated { customerId } }' },
    {
      next: ({ data }) => void (data && customers.add(data.entitlementsUpdated.customerId)),
      error: () => undefined,
      complete: () => undefined,
    },
  )
  return { customers, stop: async () => client.dispose() }
}

interface Row {
  customer: string
  plan: string
  status: string
  reason: string | null
  endedAt: Date | null
}

async function checkRecords({ database, api }: OwnProcesses, { at }: Midnight, told: ReadonlySet<string>): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    const due = 'SELECT count(*)::int AS count FROM subscription WHERE due_at <= now()'
    await eventually('everything due to be recorded', async () => (await client.query(due)).rows[0].count === 0)
    const { rows } = await client.query<Row>(`
      SELECT customer.ref_id AS customer, package.ref_id AS plan, s.status, s.cancel_reason AS reason, s.effective_end_date AS "endedAt"
      FROM subscription s JOIN customer ON customer.id = s.customer_id
      JOIN package_version v ON v.id = s.plan_version_id JOIN package ON package.id = v.package_id ORDER BY s.created_at, s.id`)
    for (const { customerId, recorded } of stories) {
      const held = rows.filter(({ customer }) => customer === customerId)
      expect(
        held.map(({ plan, status, reason }) => [plan, status, ...(reason ? [reason] : [])].join(' ')),
        customerId,
      ).to.deep.equal(recorded)
      for (const { status, endedAt } of held)
        if (status === 'EXPIRED' || status === 'CANCELED') expect(endedAt!.getTime(), customerId).to.equal(at)
    }
    const twice = await client.query(`
      SELECT subscription_id FROM subscription_renewal GROUP BY subscription_id, period_start HAVING count(*) > 1
      UNION ALL SELECT subscription_id FROM invoice WHERE reason = 'BILLING_CYCLE' GROUP BY subscription_id, period_start HAVING count(*) > 1`)
    expect(twice.rows, 'renewed or charged twice').to.deep.equal([])
    const renewed = await client.query<{ customer: string }>(
      `
      SELECT customer.ref_id AS customer FROM subscription_renewal r JOIN subscription s ON s.id = r.subscription_id
      JOIN customer ON customer.id = s.customer_id WHERE r.period_start = $1 ORDER BY 1`,
      [new Date(at)],
    )
    expect(renewed.rows.map(({ customer }) => customer)).to.deep.equal(
      stories
        .filter(({ isRenewed }) => isRenewed)
        .map(({ customerId }) => customerId)
        .sort(),
    )
  } finally {
    await client.end()
  }
  for (const { story, featureId, after } of questions)
    expect(await askApi(api, story.customerId, featureId), `${story.customerId}, ${featureId}`).to.equal(after)
  const changed = stories.filter(({ isTold }) => isTold).map(({ customerId }) => customerId)
  await eventually('all changes to be told', () => changed.every((customerId) => told.has(customerId)))
}

/** The API's answer in the words of `ask`. */
async function askApi(api: OwnProcesses['api'], customerId: string, featureId: string): Promise<string> {
  const reasons: Record<string, number> = {
    NoActiveSubscription: 6,
    NoFeatureEntitlementInSubscription: 7,
    RequestedUsageExceedingLimit: 8,
  }
  const { entitlement } = await api.call<{
    entitlement: {
      isGranted: boolean
      accessDeniedReason: string | null
      currentUsage: number | null
      usageLimit: number | null
      hasUnlimitedUsage: boolean
      enumValues: string[] | null
      feature: { featureType: string } | null
    }
  }>(
    `query ($query: FetchEntitlementQuery!) { entitlement(query: $query) {
      isGranted accessDeniedReason currentUsage usageLimit hasUnlimitedUsage enumValues feature { featureType } } }`,
    { query: { customerId, featureId } },
  )
  const { isGranted, accessDeniedReason, currentUsage, usageLimit, hasUnlimitedUsage, enumValues } = entitlement
  if (!isGranted) return `denied ${reasons[accessDeniedReason ?? '']}`
  if (enumValues) return enumValues.join()
  return currentUsage === null ? String(usageLimit ?? 'yes') : `${currentUsage} of ${hasUnlimitedUsage ? 'any' : usageLimit}`
}

/** The sidecar hears of what happens from now on. */
async function checkFollows(processes: OwnProcesses, at: number): Promise<void> {
  const { customerId } = stories.find(({ isFollowed }: Story) => isFollowed)!
  const usage = await openMidnight(processes.api, at).report(customerId, 'calls', 3)
  await eventually('the sidecar to hear of a report', async () => (await ask(processes, customerId, 'calls')).startsWith(`${usage} of`))
}
