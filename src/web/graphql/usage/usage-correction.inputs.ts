import { Field, Float, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { invalidInput } from '../../../kernel/problem.js'
import type { EventName, MeasurementName } from '../../../metering/corrections/corrections.js'
import type { RecomputationRequest } from '../../../metering/corrections/recomputation.js'
import { DateTime, Json } from '../schema/scalars.js'

@InputType({ description: 'An event, named as it was reported.' })
export class UsageEventNameInput {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String)
  eventName!: string

  @Field(() => String)
  idempotencyKey!: string

  @Field(() => String, { nullable: true })
  resourceId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'If it was reported with one.' })
  timestamp?: EpochMs | null
}

@InputType({ description: 'An event, named as it was reported, and what it should have said.' })
export class UsageEventReplacementInput extends UsageEventNameInput {
  @Field(() => Json, { description: 'All dimensions: an object of texts, numbers and booleans.' })
  dimensions!: unknown
}

@InputType({ description: 'A measurement, by its id or by the idempotency key that it was reported with: exactly one of them.' })
export class UsageMeasurementNameInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true })
  id?: string | null

  @Field(() => String, { nullable: true })
  idempotencyKey?: string | null
}

@InputType({ description: 'A measurement, and the value that it should have had.' })
export class UsageMeasurementReplacementInput extends UsageMeasurementNameInput {
  @Field(() => Float, { description: 'Kept to 9 decimals.' })
  value!: number
}

@InputType({ description: 'Usage that is counted anew from raw events.' })
export class RecomputeUsageInput {
  @Field(() => String, { nullable: true, description: 'Absent: all customers.' })
  customerId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; absent: up to now.' })
  endDate?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'A feature that is metered from raw events.' })
  featureId!: string

  @Field(() => DateTime, { nullable: true, description: 'Usage periods that touch the range are counted anew; absent: from ever.' })
  startDate?: EpochMs | null
}

export function fromUsageEventNameInput({ customerId, resourceId, eventName, idempotencyKey, timestamp }: UsageEventNameInput): EventName {
  return { customerId, resourceId: resourceId ?? null, eventName, idempotencyKey, timestamp: timestamp ?? null }
}

export function fromUsageMeasurementNameInput({ id, idempotencyKey }: UsageMeasurementNameInput): MeasurementName {
  if ((id ?? null) === null && typeof idempotencyKey === 'string') return { idempotencyKey }
  if ((idempotencyKey ?? null) === null && typeof id === 'string') return { id }
  throw invalidInput('Name the measurement by id or by idempotencyKey: exactly one of them.')
}

export function fromRecomputeUsageInput({ featureId, customerId, startDate, endDate }: RecomputeUsageInput): RecomputationRequest {
  return { featureId, customerId: customerId ?? null, from: startDate ?? null, to: endDate ?? null }
}
