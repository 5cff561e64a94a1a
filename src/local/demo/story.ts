/**
 * The main job as a story: a customer signs up, uses what it may, meets its limit, upgrades, and ends. Each step goes through the real process that
 * does it, and says what was right. `npm run demo` prints it; the end-to-end test plays it too.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlatformFile } from '../platform-file.js'
import { GraphqlClient, SidecarClient } from './clients.js'

interface StepResult {
  title: string
  /** What the platform answered, in a line. */
  answer: string
  isRight: boolean
  ms: number
}

/** The right answer, and what was got instead when it was another. */
interface Told {
  answer: string
  isRight: boolean
}

interface MeteredAnswer {
  has_access: boolean
  is_fallback: boolean
  access_denied_reason?: number
  entitlement?: { usage_limit?: number; is_unlimited: boolean; current_usage: number }
}

const exceedsLimit = 8
const waitMs = 5_000

export async function* playStory(platform: Pick<PlatformFile, 'webUrl' | 'sidecarAddress' | 'serverApiKey'>): AsyncGenerator<StepResult> {
  const api = new GraphqlClient(platform.webUrl, platform.serverApiKey)
  const sidecar = new SidecarClient(platform.sidecarAddress)
  const customerId = `demo-${randomUUID().slice(0, 8)}`
  const metered = (requested: number, featureId = 'api-calls') =>
    sidecar.call<MeteredAnswer>('GetMeteredEntitlement', {
      customer_id: customerId,
      feature_id: featureId,
      options: { requested_usage: requested },
    })

  const steps: [title: string, run: () => Promise<Told>][] = [
    [
      `The host application provisions customer ${customerId} without naming a plan`,
      async () => {
        const { provisionCustomer } = await api.call<{
          provisionCustomer: { subscriptionDecisionStrategy: string; subscription: { status: string; plan: { refId: string } } | null }
        }>(
          `mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { subscriptionDecisionStrategy subscription { status plan { refId } } } }`,
          { input: { customerId, name: 'Demo customer', email: 'demo@example.com' } },
        )
        const { subscription, subscriptionDecisionStrategy } = provisionCustomer
        const plan = subscription?.plan.refId
        return {
          answer: `plan ${plan}, ${subscription?.status} (${subscriptionDecisionStrategy})`,
          isRight: plan === 'free' && subscription?.status === 'ACTIVE',
        }
      },
    ],
    [
      'The sidecar is asked whether the customer may use single sign-on',
      async () => {
        const answer = await sidecar.call<{ has_access: boolean; is_fallback: boolean }>('GetBooleanEntitlement', {
          customer_id: customerId,
          feature_id: 'sso',
        })
        return {
          answer: answer.has_access ? 'granted' : 'denied: not in the free plan',
          isRight: !answer.has_access && !answer.is_fallback,
        }
      },
    ],
    [
      'The sidecar is asked for one API call (first time: fetched from the API)',
      async () => {
        const answer = await metered(1)
        return { answer: describe(answer), isRight: answer.has_access && !answer.is_fallback && answer.entitlement?.usage_limit === 10 }
      },
    ],
    [
      'The same again (now from the cache)',
      async () => {
        const answer = await metered(1)
        return { answer: describe(answer), isRight: answer.has_access && !answer.is_fallback }
      },
    ],
    [
      'Nine API calls are reported through the sidecar, one by one',
      async () => {
        for (let n = 0; n < 9; n++) await sidecar.call('ReportUsage', { customer_id: customerId, feature_id: 'api-calls', value: 1 })
        const answer = await metered(1)
        return { answer: describe(answer), isRight: answer.has_access && answer.entitlement?.current_usage === 9 }
      },
    ],
    [
      'The tenth is reported through GraphQL; how long until the sidecar knows?',
      async () => {
        const report = await timed(() =>
          api.call<{ reportUsage: { currentUsage: number } }>(
            `mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }`,
            {
              input: { customerId, featureId: 'api-calls', value: 1 },
            },
          ),
        )
        const seen = await timed(() => until(async () => (await metered(0)).entitlement?.current_usage === 10))
        const usage = report.result.reportUsage.currentUsage
        return {
          answer: `acknowledged in ${report.ms.toFixed(1)} ms with usage ${usage}; in the sidecar ${seen.ms.toFixed(1)} ms later`,
          isRight: seen.result && usage === 10,
        }
      },
    ],
    [
      'One more is asked for at the limit, on both doors',
      async () => {
        const grpc = await metered(1)
        const { entitlement } = await api.call<{ entitlement: { isGranted: boolean; accessDeniedReason: string | null } }>(
          `query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted accessDeniedReason currentUsage usageLimit } }`,
          { query: { customerId, featureId: 'api-calls', options: { requestedUsage: 1 } } },
        )
        const isDenied = !grpc.has_access && grpc.access_denied_reason === exceedsLimit && !entitlement.isGranted
        return {
          answer: `sidecar: ${describe(grpc)}; GraphQL: ${entitlement.accessDeniedReason}`,
          isRight: isDenied && entitlement.accessDeniedReason === 'RequestedUsageExceedingLimit',
        }
      },
    ],
    [
      'The customer upgrades to the team plan',
      async () => {
        const { provisionSubscriptionV2: result } = await api.call<{
          provisionSubscriptionV2: { subscription: { status: string; plan: { refId: string } } }
        }>(
          `mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { status subscription { status plan { refId } } } }`,
          { input: { customerId, planId: 'team', billingPeriod: 'MONTHLY', skipTrial: true } },
        )
        const seen = await timed(() => until(async () => (await metered(1)).entitlement?.usage_limit === 10_000))
        const { status, plan } = result.subscription
        return {
          answer: `plan ${plan.refId}, ${status}; in the sidecar ${seen.ms.toFixed(1)} ms later: ${describe(await metered(1))}`,
          isRight: seen.result && status === 'ACTIVE',
        }
      },
    ],
    [
      'Three raw events of AI completions are reported, one of them twice and one failed',
      async () => {
        const event = (key: string, tokens: number, status = 'ok') => ({
          customer_id: customerId,
          event_name: 'completion',
          idempotency_key: `${customerId}-${key}`,
          dimensions: { tokens: { number_value: tokens }, status: { string_value: status } },
        })
        await sidecar.call('ReportEvents', { events: [event('a', 1200), event('b', 300.5), event('b', 300.5), event('c', 9999, 'failed')] })
        const seen = await timed(() => until(async () => (await metered(0, 'ai-tokens')).entitlement?.current_usage === 1500.5))
        return {
          answer: `${describe(await metered(0, 'ai-tokens'))} tokens, ${seen.ms.toFixed(1)} ms after the acknowledgement`,
          isRight: seen.result,
        }
      },
    ],
    [
      'A trial of the business plan is given that ends in a second; the paid plan stays beside it',
      async () => {
        const trialEndDate = new Date(Date.now() + 1_000).toISOString()
        await api.call(
          `mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { subscription { status } } }`,
          {
            input: {
              customerId,
              planId: 'business',
              trialOverrideConfiguration: { isTrial: true, trialEndDate, trialEndBehavior: 'CANCEL_SUBSCRIPTION' },
            },
          },
        )
        const isUnlimited = await until(async () => (await metered(1)).entitlement?.is_unlimited === true)
        const isOver = await until(async () => (await metered(1)).entitlement?.usage_limit === 10_000)
        return {
          answer: isUnlimited && isOver ? 'unlimited during the trial, 10000 after it' : 'the trial did not come and go',
          isRight: isUnlimited && isOver,
        }
      },
    ],
    [
      'The subscription is canceled; the product falls back to the free plan',
      async () => {
        const active = async () =>
          (
            await api.call<{ getActiveSubscriptions: { subscriptionId: string; plan: { refId: string } }[] }>(
              `query ($input: GetActiveSubscriptionsInput!) { getActiveSubscriptions(input: $input) { subscriptionId status plan { refId } } }`,
              { input: { customerId } },
            )
          ).getActiveSubscriptions
        const [subscription] = await active()
        await api.call(`mutation ($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { refId status } }`, {
          input: { subscriptionRefId: subscription?.subscriptionId, subscriptionCancellationTime: 'IMMEDIATE' },
        })
        const plans = (await active()).map(({ plan }) => plan.refId)
        const seen = await until(async () => (await metered(1)).entitlement?.usage_limit === 10)
        return { answer: `now on ${plans.join(', ')}: ${describe(await metered(1))}`, isRight: seen && plans.join() === 'free' }
      },
    ],
  ]

  try {
    for (const [title, run] of steps) {
      const { result, ms } = await timed(() =>
        run().catch((error: Error): Told => ({ answer: `failed: ${error.message}`, isRight: false })),
      )
      yield { title, ...result, ms }
      // Each step builds on the ones before it.
      if (!result.isRight) return
    }
  } finally {
    sidecar.close()
  }
}

function describe({ has_access, access_denied_reason, entitlement }: MeteredAnswer): string {
  const limit = entitlement?.is_unlimited ? 'unlimited' : entitlement?.usage_limit
  const reason = access_denied_reason === exceedsLimit ? 'over the limit' : `reason ${access_denied_reason}`
  return `${has_access ? 'granted' : `denied (${reason})`}, ${entitlement?.current_usage ?? 0} of ${limit ?? 'nothing'}`
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const start = performance.now()
  const result = await work()
  return { result, ms: performance.now() - start }
}

/** Whether the condition came true in time; asks again every two milliseconds. */
async function until(condition: () => Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + waitMs; performance.now() < end; await sleep(2)) if (await condition()) return true
  return false
}
