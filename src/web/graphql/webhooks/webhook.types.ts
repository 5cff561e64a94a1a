import { Field, InputType, Int, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type { DeliveriesPage, WebhookDelivery as Delivery, WebhookEndpoint as Endpoint } from '../../../notifications/webhooks/service.js'
import { defineEnum } from '../schema/define-enum.js'
import { DateTime, Json } from '../schema/scalars.js'

export const WebhookEndpointStatus = defineEnum(
  'WebhookEndpointStatus',
  'Whether an endpoint is sent to. PAUSED: by request. DISABLED: for what it has answered. Events wait for it either way.',
  ['ACTIVE', 'PAUSED', 'DISABLED'],
)
export const WebhookDisabledReason = defineEnum(
  'WebhookDisabledReason',
  'Why an endpoint is disabled. GONE: it answered 410. NO_SUCCESS: it answered nothing right for 5 days of attempts.',
  ['GONE', 'NO_SUCCESS'],
)
export const WebhookDeliveryStatus = defineEnum(
  'WebhookDeliveryStatus',
  'What became of an event for an endpoint. PENDING: an attempt is to be made. FAILED: the last one was made, and it can be resent.',
  ['PENDING', 'DELIVERED', 'FAILED'],
)

@ObjectType({ simpleResolvers: true, description: 'Where the host application hears of events.' })
export class WebhookEndpoint {
  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => DateTime, { nullable: true, description: 'DISABLED: since when.' })
  disabledAt!: EpochMs | null

  @Field(() => WebhookDisabledReason, { nullable: true, description: 'DISABLED: why.' })
  disabledReason!: keyof typeof WebhookDisabledReason | null

  @Field(() => [String], { description: 'Types of events that it hears of; none: all.' })
  eventTypes!: string[]

  @Field(() => DateTime, { nullable: true, description: 'Since when no attempt succeeded; null: the last one did, or there was none.' })
  failingSince!: EpochMs | null

  @Field(() => String)
  id!: string

  @Field(() => DateTime, {
    nullable: true,
    description: 'Until when deliveries are signed with the secret before the current one too; null: there is none.',
  })
  previousSecretExpiresAt!: EpochMs | null

  @Field(() => WebhookEndpointStatus)
  status!: keyof typeof WebhookEndpointStatus

  @Field(() => DateTime)
  updatedAt!: EpochMs

  @Field(() => String)
  url!: string
}

export const toEndpoint = ({ environmentId: _, ...endpoint }: Endpoint): WebhookEndpoint => endpoint

@ObjectType({ simpleResolvers: true, description: 'An endpoint, and its secret.' })
export class WebhookEndpointWithSecret {
  @Field(() => WebhookEndpoint)
  endpoint!: WebhookEndpoint

  @Field(() => String, { description: 'What verifies deliveries: whsec_… Shown only now.' })
  secret!: string
}

@ObjectType({ simpleResolvers: true, description: 'One request to an endpoint.' })
export class WebhookAttempt {
  @Field(() => DateTime)
  at!: EpochMs

  @Field(() => Int, { description: 'Milliseconds until the answer, or until it was given up.' })
  durationMs!: number

  @Field(() => String, { nullable: true, description: 'Why there was no answer; null: there was one.' })
  error!: string | null

  @Field(() => Int, { description: 'From 1.' })
  number!: number

  @Field(() => String, { nullable: true, description: 'The first 1,024 bytes of the answer.' })
  response!: string | null

  @Field(() => Int, { nullable: true, description: 'The status of HTTP; null: there was no answer.' })
  statusCode!: number | null
}

@ObjectType({ description: 'One event for one endpoint.' })
export class WebhookDelivery {
  @Field(() => Int, { simple: true })
  attemptCount!: number

  @Field(() => [WebhookAttempt], { simple: true, description: 'In their order.' })
  attempts!: WebhookAttempt[]

  @Field(() => Json, { description: 'What is sent.' })
  body!: unknown

  @Field(() => DateTime, { simple: true })
  createdAt!: EpochMs

  @Field(() => String, { simple: true, description: 'The same in every attempt: the header webhook-id.' })
  eventId!: string

  @Field(() => String, { simple: true })
  eventType!: string

  @Field(() => DateTime, { nullable: true, simple: true, description: 'Null: it is PENDING.' })
  finishedAt!: EpochMs | null

  @Field(() => DateTime, { nullable: true, simple: true, description: 'PENDING: when the next attempt is due.' })
  nextAttemptAt!: EpochMs | null

  @Field(() => WebhookDeliveryStatus, { simple: true })
  status!: keyof typeof WebhookDeliveryStatus
}

export const toDelivery = ({ endpointId: _, ...delivery }: Delivery): WebhookDelivery => delivery

@ObjectType({ simpleResolvers: true, description: 'Deliveries of an endpoint, the newest first.' })
export class WebhookDeliveryPage {
  @Field(() => [WebhookDelivery])
  deliveries!: WebhookDelivery[]

  @Field(() => String, { nullable: true, description: 'What `after` is to be for the next page; null: there are no more.' })
  nextCursor!: string | null
}

export const toDeliveryPage = ({ deliveries, nextCursor }: DeliveriesPage): WebhookDeliveryPage => ({
  deliveries: deliveries.map(toDelivery),
  nextCursor,
})

@ObjectType({ simpleResolvers: true, description: 'An event that was made to try an endpoint.' })
export class WebhookTest {
  @Field(() => String, { description: 'Ask webhookDeliveries what became of it.' })
  eventId!: string
}

@ObjectType({ simpleResolvers: true, description: 'What is delivered once more.' })
export class ResentWebhooks {
  @Field(() => Int, { description: 'Deliveries that are made once more.' })
  count!: number
}

@InputType({ description: 'An endpoint to be made.' })
export class CreateWebhookEndpointInput {
  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null

  @Field(() => [String], { nullable: true, description: 'Types of events that it is to hear of, as in /docs/webhooks. Default: all.' })
  eventTypes?: string[] | null

  @Field(() => Boolean, { nullable: true, description: 'Nothing is sent to it yet, and events wait. Default: false.' })
  isPaused?: boolean | null

  @Field(() => String, { description: 'https://…, on the public internet unless the operator allows otherwise.' })
  url!: string
}

@InputType({ description: 'What is to be changed of an endpoint. What is absent stays.' })
export class UpdateWebhookEndpointInput {
  @Field(() => String, { nullable: true, description: 'What it is for; null: nothing is said.' })
  description?: string | null

  @Field(() => [String], { nullable: true, description: 'Types of events that it is to hear of from now on; none: all.' })
  eventTypes?: string[] | null

  @Field(() => String)
  id!: string

  @Field(() => Boolean, { nullable: true, description: 'False resumes it, also when it was disabled: what waited is sent.' })
  isPaused?: boolean | null

  @Field(() => String, { nullable: true, description: 'Where what waits is sent to as well.' })
  url?: string | null
}

@InputType({ description: 'Which endpoint.' })
export class WebhookEndpointInput {
  @Field(() => String)
  id!: string
}

@InputType({ description: 'A secret to be replaced.' })
export class RotateWebhookSecretInput {
  @Field(() => String, { description: 'Of the endpoint.' })
  id!: string

  @Field(() => Int, {
    description:
      'How long deliveries are signed with the old secret too, in seconds: 7 days at most; 0: not at all, nor with those before it.',
  })
  overlapSeconds!: number
}

@InputType({ description: 'Which deliveries.' })
export class WebhookDeliveriesInput {
  @Field(() => String, { nullable: true, description: 'The nextCursor of the page before.' })
  after?: string | null

  @Field(() => String)
  endpointId!: string

  @Field(() => String, { nullable: true, description: 'Only that of one event.' })
  eventId?: string | null

  @Field(() => Int, { nullable: true, description: '1 to 100. Default: 20.' })
  first?: number | null

  @Field(() => WebhookDeliveryStatus, { nullable: true, description: 'Only those. Default: all.' })
  status?: keyof typeof WebhookDeliveryStatus | null
}

@InputType({ description: 'What is to be delivered once more: one event, or all since a time.' })
export class ResendWebhookDeliveriesInput {
  @Field(() => String)
  endpointId!: string

  @Field(() => String, { nullable: true, description: 'One event; then without `since`.' })
  eventId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'With `since`: only what FAILED. Default: also what was delivered.' })
  onlyFailed?: boolean | null

  @Field(() => DateTime, { nullable: true, description: 'All that were recorded since then and are not PENDING.' })
  since?: EpochMs | null
}
