import { Field, Float, InputType } from 'type-graphql'
import { checkRequestedUsage } from '../../entitlement/evaluate.js'

@InputType({ description: 'What is asked of a feature.' })
export class EntitlementOptions {
  @Field(() => Float, { nullable: true, description: 'How much the caller wants to consume; default 0, which is granted at the limit.' })
  requestedUsage?: number | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values that must all be held.' })
  requestedValues?: string[] | null
}

@InputType({ description: 'Which customer, and which feature.' })
export class FetchEntitlementQuery {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String)
  featureId!: string

  @Field(() => EntitlementOptions, { nullable: true })
  options?: EntitlementOptions | null

  @Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' })
  resourceId?: string | null
}

@InputType({ description: 'Which customer, or which of its resources.' })
export class FetchEntitlementsQuery {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' })
  resourceId?: string | null
}

export function fromFetchEntitlementQuery({ customerId, featureId, resourceId, options }: FetchEntitlementQuery) {
  return {
    customerRefId: customerId,
    featureRefId: featureId,
    resourceRefId: resourceId ?? null,
    requestedUsage: checkRequestedUsage(options?.requestedUsage),
    requestedValues: options?.requestedValues ?? null,
  }
}
