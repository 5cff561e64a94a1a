import 'reflect-metadata'
import { type GraphQLField, type GraphQLObjectType, type GraphQLSchema, lexicographicSortSchema } from 'graphql'
import { buildSchemaSync } from 'type-graphql'
import { authorize, type RootArguments } from '../auth.js'
import { CatalogResolver } from './catalog.resolver.js'
import { ConfigurationResolver } from './configuration.resolver.js'
import type { RequestContext } from './context.js'
import { CustomerResolver } from './customer.resolver.js'
import { EntitlementResolver } from './entitlement.resolver.js'
import { StateChangesResolver } from './state-changes.resolver.js'
import { SubscriptionResolver } from './subscription.resolver.js'
import { UpdatesResolver } from './updates.resolver.js'
import { UsageResolver } from './usage.resolver.js'

/** The schema that the front door serves; every root field is guarded. Built once per process. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      CatalogResolver,
      ConfigurationResolver,
      CustomerResolver,
      EntitlementResolver,
      StateChangesResolver,
      SubscriptionResolver,
      UpdatesResolver,
      UsageResolver,
    ],
    validate: false,
    disableInferringDefaultValues: true,
    // Subscriptions name their own source; type-graphql wants one for those that do not.
    pubSub: { publish: unused, subscribe: unused },
  })
  const sorted = lexicographicSortSchema(schema)
  for (const root of [sorted.getQueryType(), sorted.getMutationType(), sorted.getSubscriptionType()]) {
    if (root) guard(root)
  }
  return sorted
}

/** Authorises before the field is resolved or subscribed to, whichever comes first. */
function guard(root: GraphQLObjectType): void {
  for (const field of Object.values<GraphQLField<unknown, RequestContext, RootArguments>>(root.getFields())) {
    const entry = root.name === 'Subscription' ? 'subscribe' : 'resolve'
    const enter = field[entry]!
    field[entry] = (source, args, context, info) => {
      authorize(context.identity, { operation: root.name, field: field.name, args })
      return enter(source, args, context, info)
    }
  }
}

function unused(): never {
  throw new Error('a subscription without a source of its own')
}
