import 'reflect-metadata'
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isObjectType,
  lexicographicSortSchema,
} from 'graphql'
import { buildSchemaSync } from 'type-graphql'
import type { Origin } from '../../audit/model/entry.js'
import { originating } from '../../audit/record/origin.js'
import { actorOf, authorize, type RootArguments } from '../access/auth.js'
import { AlertResolver } from './alerts/alert.resolver.js'
import { AuditResolver } from './audit/audit.resolver.js'
import { BillingResolver } from './billing/billing.resolver.js'
import { CustomerBillingResolver } from './billing/customer-billing.resolver.js'
import { CatalogResolver } from './catalog/catalog.resolver.js'
import { CouponResolver } from './catalog/coupon.resolver.js'
import { AddonResolver, FeatureResolver, PlanResolver, PriceResolver, ProductResolver } from './catalog/package.resolver.js'
import { ProductListResolver } from './catalog/product.resolver.js'
import { CouponCustomersResolver } from './customer/coupon-customers.resolver.js'
import { CustomerResolver } from './customer/customer.resolver.js'
import { CustomerListResolver } from './customer/customer-list.resolver.js'
import { EntitlementResolver } from './entitlement/entitlement.resolver.js'
import { PromotionalResolver } from './entitlement/promotional.resolver.js'
import { ApiKeyResolver } from './environment/api-key.resolver.js'
import { ConfigurationResolver } from './environment/configuration.resolver.js'
import { EnvironmentResolver } from './environment/environment.resolver.js'
import { TestClockResolver } from './environment/test-clock.resolver.js'
import { WarmingResolver } from './environment/warming.resolver.js'
import { EstimateResolver } from './estimates/estimate.resolver.js'
import type { RequestContext } from './operations/context.js'
import { isListOfObjects } from './operations/turns.js'
import { PaywallResolver } from './paywall/paywall.resolver.js'
import { CustomerProvisioningResolver } from './provisioning/customer-provisioning.resolver.js'
import { ImportResolver } from './provisioning/import.resolver.js'
import { describeFields } from './schema/field-meanings.js'
import { Json } from './schema/scalars.js'
import { CustomerSubscriptionsResolver } from './subscription/customer-subscriptions.resolver.js'
import { PackageMigrationResolver } from './subscription/package-migration.resolver.js'
import { SubscriptionResolver } from './subscription/subscription.resolver.js'
import { SubscriptionBillingResolver } from './subscription/subscription-billing.resolver.js'
import { SubscriptionChangeResolver } from './subscription/subscription-change.resolver.js'
import { SubscriptionQueryResolver } from './subscription/subscription-query.resolver.js'
import { StateChangesResolver } from './updates/state-changes.resolver.js'
import { UpdatesResolver } from './updates/updates.resolver.js'
import { UsageResolver } from './usage/usage.resolver.js'
import { UsageCorrectionResolver } from './usage/usage-correction.resolver.js'
import { UsageHistoryResolver } from './usage/usage-history.resolver.js'
import { WebhookResolver } from './webhooks/webhook.resolver.js'

/** The schema that the front door serves; every root field is guarded. Built once per process. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      AddonResolver,
      ApiKeyResolver,
      AlertResolver,
      AuditResolver,
      BillingResolver,
      CatalogResolver,
      ConfigurationResolver,
      CouponCustomersResolver,
      CouponResolver,
      CustomerBillingResolver,
      CustomerListResolver,
      CustomerProvisioningResolver,
      CustomerResolver,
      CustomerSubscriptionsResolver,
      EntitlementResolver,
      EnvironmentResolver,
      EstimateResolver,
      FeatureResolver,
      ImportResolver,
      PackageMigrationResolver,
      PaywallResolver,
      PlanResolver,
      PriceResolver,
      ProductListResolver,
      ProductResolver,
      PromotionalResolver,
      StateChangesResolver,
      SubscriptionBillingResolver,
      SubscriptionChangeResolver,
      SubscriptionQueryResolver,
      SubscriptionResolver,
      TestClockResolver,
      UpdatesResolver,
      UsageCorrectionResolver,
      UsageHistoryResolver,
      UsageResolver,
      WarmingResolver,
      WebhookResolver,
    ],
    validate: false,
    disableInferringDefaultValues: true,
    // Subscriptions name their own source; type-graphql wants one for those that do not.
    pubSub: { publish: unused, subscribe: unused },
  })
  const sorted = lexicographicSortSchema(schema)
  describeFields(Object.values(sorted.getTypeMap()))
  for (const root of [sorted.getQueryType(), sorted.getMutationType(), sorted.getSubscriptionType()]) {
    if (root) guard(root)
  }
  for (const type of Object.values(sorted.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue
    takeTurns(type)
    weighJson(type)
  }
  return sorted
}

/** Authorises before the field is resolved or subscribed to, whichever comes first. */
function guard(root: GraphQLObjectType): void {
  for (const field of Object.values<GraphQLField<unknown, RequestContext, RootArguments>>(root.getFields())) {
    const entry = root.name === 'Subscription' ? 'subscribe' : 'resolve'
    const enter = field[entry]!
    field[entry] = (source, args, context, info) => {
      authorize(context.identity, { operation: root.name, field: field.name, args }, context)
      if (root.name === 'Query' && context.turns) return context.turns.begin(() => enter(source, args, context, info))
      if (root.name !== 'Mutation') return enter(source, args, context, info)
      context.forgetLoaded()
      return originating(new MutationOrigin(field.name, context), () => enter(source, args, context, info))
    }
  }
}

/** A mutation as where changes come from. Most reports change nothing that is audited, so its trace id is made when it is asked for. */
class MutationOrigin implements Origin {
  constructor(
    readonly operation: string,
    private readonly context: RequestContext,
  ) {}

  get actor() {
    return actorOf(this.context.identity, this.operation)
  }

  get address() {
    return this.context.address
  }

  get traceId() {
    return this.context.traceId
  }
}

/** In an answer that is made in turns; fields without a resolver are the operation's to resolve. */
function takeTurns(type: GraphQLObjectType): void {
  for (const field of Object.values<GraphQLField<unknown, RequestContext>>(type.getFields())) {
    const { resolve } = field
    if (!resolve || !isListOfObjects(field.type)) continue
    field.resolve = (source, args, context, info) => {
      const value = resolve(source, args, context, info)
      return context.turns ? context.turns.take(value) : value
    }
  }
}

/** What is JSON may be large, and there may be many of it: it is counted before the whole answer is there. All other leaves are short. */
function weighJson(type: GraphQLObjectType): void {
  for (const field of Object.values<GraphQLField<unknown, RequestContext>>(type.getFields())) {
    if (getNamedType(field.type).name !== Json.name) continue
    const { resolve = defaultFieldResolver } = field
    field.resolve = (source, args, context, info) => {
      const value = resolve(source, args, context, info)
      const weighed = context.weigh(value)
      return weighed ? weighed.then(() => value) : value
    }
  }
}

function unused(): never {
  throw new Error('a subscription without a source of its own')
}
