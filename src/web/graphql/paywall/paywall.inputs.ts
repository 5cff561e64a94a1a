import { Field, InputType } from 'type-graphql'
import * as enums from '../schema/enums.js'

@InputType({ description: 'Which product is offered, and to whom.' })
export class GetPaywallInput {
  @Field(() => String, {
    nullable: true,
    description: 'ISO 3166-1 alpha-2: chooses currency and prices of that country. A code that is none: prices for any.',
  })
  billingCountryCode?: string | null

  @Field(() => enums.WidgetType, { nullable: true, description: 'The widget that asks; answers are the same for all.' })
  context?: keyof typeof enums.WidgetType | null

  @Field(() => String, { nullable: true, description: 'Also answers what the customer has.' })
  customerId?: string | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'Answers the prices of every country and currency.' })
  fetchAllCountriesPrices?: boolean | null

  @Field(() => Boolean, { nullable: true, description: 'Tollgate hides no plans; accepted for older clients.' })
  includeHiddenPlans?: boolean | null

  @Field(() => String, { nullable: true, description: 'Tollgate has no offers: it is refused.' })
  offerId?: string | null

  @Field(() => String, { nullable: true, description: 'The identifier that the catalog gave the product; absent: the oldest product.' })
  productId?: string | null

  @Field(() => String, { nullable: true, description: 'What this resource of the customer has.' })
  resourceId?: string | null
}
