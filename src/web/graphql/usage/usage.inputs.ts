import { Field, Float, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { readAll } from '../../../metering/intake/intake.js'
import type { Dimensions, UsageEvent, UsageReport } from '../../../metering/model/report.js'
import { checkUsageValue } from '../../../metering/model/usage-value.js'
import { lateDays } from '../../../metering/model/windows.js'
import * as enums from '../schema/enums.js'
import { DateTime, Json } from '../schema/scalars.js'

@InputType({ description: 'Usage that the host application has counted itself.' })
export class ReportUsageBaseInput {
  @Field(() => DateTime, { nullable: true, description: `When it was used: at most ${lateDays} days back; default now.` })
  createdAt?: EpochMs | null

  @Field(() => String)
  customerId!: string

  @Field(() => Json, { nullable: true, description: 'An object of texts, numbers and booleans.' })
  dimensions?: unknown

  @Field(() => String)
  featureId!: string

  @Field(() => String, {
    nullable: true,
    description:
      'Makes the report safe to repeat: the same key counts once. Without one, an error of unknown outcome names the key to repeat it under.',
  })
  idempotencyKey?: string | null

  @Field(() => String, { nullable: true })
  resourceId?: string | null

  @Field(() => enums.UsageUpdateBehavior, { nullable: true, description: 'Default DELTA.' })
  updateBehavior?: 'DELTA' | 'SET' | null

  @Field(() => Float, { description: 'Kept to 9 decimals.' })
  value!: number
}

@InputType({ description: 'Usage that the host application has counted itself.' })
export class ReportUsageInput extends ReportUsageBaseInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null
}

@InputType({ description: 'Usage that the host application has counted itself; the older form of ReportUsageInput.' })
export class UsageMeasurementCreateInput extends ReportUsageInput {}

@InputType({ description: 'At most 1,000 reports. All are counted or none.' })
export class ReportUsageBulkInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => [ReportUsageBaseInput])
  usages!: ReportUsageBaseInput[]
}

/** Values that cannot be kept are named with their place, like everything that is found wrong later. */
export const fromReportUsageBulkInput = ({ usages }: ReportUsageBulkInput): UsageReport[] => readAll(usages, fromReportUsageInput)

export function fromReportUsageInput(input: ReportUsageBaseInput): UsageReport {
  const { customerId, featureId, value } = input
  return {
    customerId,
    resourceId: input.resourceId ?? null,
    featureId,
    value: checkUsageValue(value),
    behavior: input.updateBehavior ?? 'DELTA',
    timestamp: input.createdAt ?? null,
    idempotencyKey: input.idempotencyKey ?? null,
    dimensions: (input.dimensions ?? null) as Dimensions | null,
  }
}

@InputType({ description: 'A raw fact that meters count.' })
export class UsageEventReportInput {
  @Field(() => String)
  customerId!: string

  @Field(() => Json, { nullable: true, description: 'An object of texts, numbers and booleans.' })
  dimensions?: unknown

  @Field(() => String)
  eventName!: string

  @Field(() => String, { description: 'Identifies the event: a repeat is accepted and not counted again.' })
  idempotencyKey!: string

  @Field(() => String, { nullable: true })
  resourceId?: string | null

  @Field(() => DateTime, { nullable: true, description: `When it happened: at most ${lateDays} days back; default now.` })
  timestamp?: EpochMs | null
}

@InputType({ description: 'At most 1,000 events.' })
export class UsageEventsReportInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => [UsageEventReportInput])
  usageEvents!: UsageEventReportInput[]
}

/** Dimensions are checked with the rest of the event, so that a bad one does not keep the others from being stored. */
export function fromUsageEvents({ usageEvents }: UsageEventsReportInput): UsageEvent[] {
  return usageEvents.map(({ customerId, resourceId, eventName, idempotencyKey, timestamp, dimensions }) => ({
    customerId,
    resourceId: resourceId ?? null,
    eventName,
    idempotencyKey,
    timestamp: timestamp ?? null,
    dimensions: (dimensions ?? {}) as Dimensions,
  }))
}
