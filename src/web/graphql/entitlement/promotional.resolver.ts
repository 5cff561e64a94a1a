import { Arg, Ctx, Mutation, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { fromGrantInput, GrantPromotionalEntitlementsInput, RevokePromotionalEntitlementInput } from './promotional.inputs.js'
import { PromotionalEntitlement, toPromotionalEntitlement } from './promotional.types.js'

@Resolver()
export class PromotionalResolver {
  @Mutation(() => [PromotionalEntitlement], {
    nullable: true,
    description: 'Entitles one customer to features beside its subscriptions, for a while or for life.',
  })
  async grantPromotionalEntitlements(
    @Arg('input', () => GrantPromotionalEntitlementsInput, { description: 'Who gets what, and for how long.' })
    { customerId, promotionalEntitlements }: GrantPromotionalEntitlementsInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const granted = await app.promotional.grant(identity.environmentId, customerId, promotionalEntitlements.map(fromGrantInput))
    return granted.map(toPromotionalEntitlement)
  }

  @Mutation(() => PromotionalEntitlement, { description: 'Takes back what was granted of a feature, at once. Answers what was held.' })
  async revokePromotionalEntitlement(
    @Arg('input', () => RevokePromotionalEntitlementInput, { description: 'From whom, and what.' })
    { customerId, featureId }: RevokePromotionalEntitlementInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toPromotionalEntitlement(await app.promotional.revoke(identity.environmentId, customerId, featureId))
  }
}
