import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import {
  EntitlementCheckRequested,
  FetchEntitlementQuery,
  FetchEntitlementsQuery,
  fromFetchEntitlementQuery,
  fromGetEntitlementV2Input,
  GetEntitlementV2Input,
} from './entitlement.inputs.js'
import { Entitlement, toEntitlement, toEntitlements } from './entitlement.types.js'
import { EntitlementsState, EntitlementUnion, toEntitlementsState, toFeatureEntitlement } from './entitlement-v2.types.js'

@Resolver()
export class EntitlementResolver {
  @Query(() => Entitlement, {
    description: 'May this customer use this feature, now? A denial is an answer with its reason, also for an unknown customer.',
  })
  async entitlement(
    @Arg('query', () => FetchEntitlementQuery, { description: 'The question.' }) query: FetchEntitlementQuery,
    @Ctx() { app, identity, freshness }: RequestContext,
  ) {
    const question = fromFetchEntitlementQuery(query)
    const { accessVersion, ...decision } = await app.entitlements.check(identity.environmentId, question, freshness)
    if (query.options?.shouldTrack) app.checks.record(identity.environmentId, decision)
    return toEntitlement(
      { customerId: query.customerId, resourceId: query.resourceId ?? null, accessVersion },
      decision,
      query.options ?? {},
    )
  }

  @Query(() => EntitlementUnion, { nullable: true, description: 'The newer form of entitlement.' })
  async entitlementV2(
    @Arg('query', () => GetEntitlementV2Input, { description: 'The question.' }) query: GetEntitlementV2Input,
    @Ctx() { app, identity, freshness }: RequestContext,
  ) {
    const question = fromGetEntitlementV2Input(query)
    const { accessVersion, ...decision } = await app.entitlements.check(identity.environmentId, question, freshness)
    if (query.options?.shouldTrack) app.checks.record(identity.environmentId, decision)
    return toFeatureEntitlement({ customerId: query.customerId, resourceId: query.resourceId ?? null, accessVersion }, decision)
  }

  @Query(() => [Entitlement], {
    nullable: true,
    description: 'Everything the customer or resource holds. Empty when it is unknown or has no access.',
  })
  async cachedEntitlements(
    @Arg('query', () => FetchEntitlementsQuery, { description: 'Whose entitlements.' }) { customerId, resourceId }: FetchEntitlementsQuery,
    @Ctx() { app, identity, now, freshness, turns }: RequestContext,
  ) {
    const state = await app.entitlements.state(identity.environmentId, customerId, resourceId ?? null, freshness)
    await turns?.pause()
    return toEntitlements(state, now)
  }

  @Query(() => EntitlementsState, { description: 'The same as cachedEntitlements, with the reason when there are none.' })
  async entitlementsState(
    @Arg('query', () => FetchEntitlementsQuery, { description: 'Whose entitlements.' }) { customerId, resourceId }: FetchEntitlementsQuery,
    @Ctx() { app, identity, now, freshness, turns }: RequestContext,
  ) {
    const state = await app.entitlements.state(identity.environmentId, customerId, resourceId ?? null, freshness)
    await turns?.pause()
    return toEntitlementsState(state, now)
  }

  @Mutation(() => Boolean, { description: 'Counts a check that an SDK answered from what it holds, in the metric of reported checks.' })
  reportEntitlementCheckRequested(
    @Arg('entitlementCheckRequested', () => EntitlementCheckRequested, { description: 'The check and its answer.' })
    { entitlementCheckResult: { hasAccess, accessDeniedReason } }: EntitlementCheckRequested,
    @Ctx() { app, identity }: RequestContext,
  ): boolean {
    app.checks.record(identity.environmentId, { granted: hasAccess, reason: accessDeniedReason ?? null })
    return true
  }
}
