import { Arg, Ctx, Mutation, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { Report } from './report-field.js'
import {
  fromReportUsageBulkInput,
  fromReportUsageInput,
  fromUsageEvents,
  ReportUsageBulkInput,
  ReportUsageInput,
  UsageEventsReportInput,
  UsageMeasurementCreateInput,
} from './usage.inputs.js'
import { toUsageMeasurement, UsageMeasurementWithCurrentUsage } from './usage.types.js'

/** What errors of all of them say; see `UsageOutcome`. */
const outcomes =
  'An error that does not refuse it says what became of it in `extensions.outcome`: `notCounted`, or `unknown` with the `idempotencyKey` (of several: `idempotencyKeys`) that it is safe to send again under.'

@Resolver()
export class UsageResolver {
  @Report()
  @Mutation(() => UsageMeasurementWithCurrentUsage, {
    description: `Reports usage of a feature. Answers once it is stored. ${outcomes} Usage over the limit is stored all the same.`,
  })
  async reportUsage(
    @Arg('input', () => ReportUsageInput, { description: 'The usage.' }) input: ReportUsageInput,
    @Ctx() context: RequestContext,
  ) {
    return report(input, context)
  }

  @Report()
  @Mutation(() => [UsageMeasurementWithCurrentUsage], {
    nullable: true,
    description: `Reports usage of several features or customers, all or none: when some are refused none is counted, and the error names them in \`extensions.items\`. ${outcomes}`,
  })
  async reportUsageBulk(
    @Arg('input', () => ReportUsageBulkInput, { description: 'The usages.' }) input: ReportUsageBulkInput,
    @Ctx() { app, identity, patience }: RequestContext,
  ) {
    const usages = await app.usage.report(identity.environmentId, fromReportUsageBulkInput(input), patience)
    return usages.map(toUsageMeasurement)
  }

  @Report()
  @Mutation(() => UsageMeasurementWithCurrentUsage, { description: 'The older form of reportUsage.' })
  async createUsageMeasurement(
    @Arg('usageMeasurement', () => UsageMeasurementCreateInput, { description: 'The usage.' }) usage: UsageMeasurementCreateInput,
    @Ctx() context: RequestContext,
  ) {
    return report(usage, context)
  }

  @Report()
  @Mutation(() => String, {
    nullable: true,
    description: `Reports raw events. Answers null once they are stored. When some are refused the others are stored, and the error names the refused ones in \`extensions.items\`. ${outcomes}`,
  })
  async reportEvent(
    @Arg('events', () => UsageEventsReportInput, { description: 'The events.' }) input: UsageEventsReportInput,
    @Ctx() { app, identity, patience }: RequestContext,
  ) {
    await app.usage.reportEvents(identity.environmentId, fromUsageEvents(input), patience)
    return null
  }
}

async function report(input: ReportUsageInput, { app, identity, patience }: RequestContext): Promise<UsageMeasurementWithCurrentUsage> {
  const [usage] = await app.usage.report(identity.environmentId, [fromReportUsageInput(input)], patience)
  return toUsageMeasurement(usage!)
}
