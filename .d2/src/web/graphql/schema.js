import 'reflect-metadata';
import { lexicographicSortSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { authorize } from '../auth.js';
import { BillingResolver } from './billing.resolver.js';
import { CatalogResolver } from './catalog.resolver.js';
import { ConfigurationResolver } from './configuration.resolver.js';
import { CouponResolver } from './coupon.resolver.js';
import { CustomerResolver } from './customer.resolver.js';
import { CustomerListResolver } from './customer-list.resolver.js';
import { EntitlementResolver } from './entitlement.resolver.js';
import { EstimateResolver } from './estimate.resolver.js';
import { describeFields } from './field-meanings.js';
import { ImportResolver } from './import.resolver.js';
import { AddonResolver, FeatureResolver, PlanResolver, PriceResolver, ProductResolver } from './package.resolver.js';
import { PackageMigrationResolver } from './package-migration.resolver.js';
import { PaywallResolver } from './paywall.resolver.js';
import { ProductListResolver } from './product.resolver.js';
import { PromotionalResolver } from './promotional.resolver.js';
import { StateChangesResolver } from './state-changes.resolver.js';
import { SubscriptionResolver } from './subscription.resolver.js';
import { CustomerBillingResolver, SubscriptionBillingResolver } from './subscription-billing.resolver.js';
import { SubscriptionChangeResolver } from './subscription-change.resolver.js';
import { SubscriptionQueryResolver } from './subscription-query.resolver.js';
import { TestClockResolver } from './test-clock.resolver.js';
import { UpdatesResolver } from './updates.resolver.js';
import { UsageResolver } from './usage.resolver.js';
import { UsageCorrectionResolver } from './usage-correction.resolver.js';
import { UsageHistoryResolver } from './usage-history.resolver.js';
/** The schema that the front door serves; every root field is guarded. Built once per process. */
export function createSchema() {
    const schema = buildSchemaSync({
        resolvers: [
            AddonResolver,
            BillingResolver,
            CatalogResolver,
            ConfigurationResolver,
            CouponResolver,
            CustomerBillingResolver,
            CustomerListResolver,
            CustomerResolver,
            EntitlementResolver,
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
        ],
        validate: false,
        disableInferringDefaultValues: true,
        // Subscriptions name their own source; type-graphql wants one for those that do not.
        pubSub: { publish: unused, subscribe: unused },
    });
    const sorted = lexicographicSortSchema(schema);
    takePlainInputs(sorted.getMutationType());
    describeFields(Object.values(sorted.getTypeMap()));
    for (const root of [sorted.getQueryType(), sorted.getMutationType(), sorted.getSubscriptionType()]) {
        if (root)
            guard(root);
    }
    return sorted;
}
/**
 * Reports get what graphql-js has coerced, as it is: the instances of input classes that type-graphql makes of it are of no use to them, and cost as much
 * as all else that a report does in the schema.
 */
function takePlainInputs(mutations) {
    const resolver = new UsageResolver();
    const take = (name, report) => {
        const field = mutations.getFields()[name];
        const argument = field.args[0].name;
        field.resolve = (_, args, context) => report(args[argument], context);
    };
    take('createUsageMeasurement', resolver.createUsageMeasurement.bind(resolver));
    take('reportEvent', resolver.reportEvent.bind(resolver));
    take('reportUsage', resolver.reportUsage.bind(resolver));
    take('reportUsageBulk', resolver.reportUsageBulk.bind(resolver));
}
/** Authorises before the field is resolved or subscribed to, whichever comes first. */
function guard(root) {
    for (const field of Object.values(root.getFields())) {
        const entry = root.name === 'Subscription' ? 'subscribe' : 'resolve';
        const enter = field[entry];
        field[entry] = (source, args, context, info) => {
            authorize(context.identity, { operation: root.name, field: field.name, args });
            if (root.name === 'Mutation')
                context.forgetLoaded();
            return enter(source, args, context, info);
        };
    }
}
function unused() {
    throw new Error('a subscription without a source of its own');
}
//# sourceMappingURL=schema.js.map