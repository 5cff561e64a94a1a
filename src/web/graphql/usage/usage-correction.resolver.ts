import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { Dimensions } from '../../../metering/model/report.js'
import type { RequestContext } from '../operations/context.js'
import {
  fromRecomputeUsageInput,
  fromUsageEventNameInput,
  fromUsageMeasurementNameInput,
  RecomputeUsageInput,
  UsageEventNameInput,
  UsageEventReplacementInput,
  UsageMeasurementNameInput,
  UsageMeasurementReplacementInput,
} from './usage-correction.inputs.js'
import { UsageRecomputation } from './usage-correction.types.js'

/** What was reported by mistake. Every number that followed from it follows. */
@Resolver()
export class UsageCorrectionResolver {
  @Mutation(() => String, { nullable: true, description: 'Takes an event back. Answers null once the usage is what it is without it.' })
  async removeUsageEvent(
    @Arg('input', () => UsageEventNameInput, { description: 'The event.' }) input: UsageEventNameInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    await app.usage.corrections.changeEvent(identity.environmentId, fromUsageEventNameInput(input), null)
    return null
  }

  @Mutation(() => String, {
    nullable: true,
    description: 'Replaces the dimensions of an event. Answers null once the usage is what it is with them.',
  })
  async replaceUsageEvent(
    @Arg('input', () => UsageEventReplacementInput, { description: 'The event.' }) input: UsageEventReplacementInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    await app.usage.corrections.changeEvent(identity.environmentId, fromUsageEventNameInput(input), input.dimensions as Dimensions)
    return null
  }

  @Mutation(() => String, {
    nullable: true,
    description: 'Takes a measurement back. Answers null once the usage is what it is without it.',
  })
  async removeUsageMeasurement(
    @Arg('input', () => UsageMeasurementNameInput, { description: 'The measurement.' }) input: UsageMeasurementNameInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    await app.usage.corrections.changeMeasurement(identity.environmentId, fromUsageMeasurementNameInput(input), null)
    return null
  }

  @Mutation(() => String, {
    nullable: true,
    description: 'Replaces the value of a measurement. Answers null once the usage is what it is with it.',
  })
  async replaceUsageMeasurement(
    @Arg('input', () => UsageMeasurementReplacementInput, { description: 'The measurement.' }) input: UsageMeasurementReplacementInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    await app.usage.corrections.changeMeasurement(identity.environmentId, fromUsageMeasurementNameInput(input), input.value)
    return null
  }

  @Mutation(() => UsageRecomputation, {
    description:
      'Has usage counted anew from raw events, with the meter as it is now. Answers at once; the work is done in the background.',
  })
  recomputeUsage(
    @Arg('input', () => RecomputeUsageInput, { description: 'What to count anew.' }) input: RecomputeUsageInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return app.usage.recomputations.request(identity.environmentId, fromRecomputeUsageInput(input))
  }

  @Query(() => UsageRecomputation, { description: 'How far a recomputation is.' })
  usageRecomputation(
    @Arg('id', () => String, { description: 'As recomputeUsage answered it.' }) id: string,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return app.usage.recomputations.progress(identity.environmentId, id)
  }
}
