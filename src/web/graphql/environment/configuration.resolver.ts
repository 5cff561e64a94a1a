import { Field, ObjectType, Query, Resolver } from 'type-graphql'

@ObjectType({ simpleResolvers: true, description: 'What SDKs ask for when they start.' })
export class SdkConfiguration {
  @Field(() => Boolean, { nullable: true })
  isWidgetWatermarkEnabled!: boolean | null

  @Field(() => String, { nullable: true, description: 'Where SDKs report their own errors; null: nowhere.' })
  sentryDsn!: string | null

  @Field(() => Boolean, { nullable: true })
  showWatermark!: boolean | null
}

@Resolver()
export class ConfigurationResolver {
  @Query(() => SdkConfiguration, { nullable: true, description: 'What SDKs ask for when they start.' })
  sdkConfiguration(): SdkConfiguration {
    return { isWidgetWatermarkEnabled: false, sentryDsn: null, showWatermark: false }
  }
}
