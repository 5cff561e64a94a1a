/**
 * The catalog of events: what can be heard of, in which shape. A shape that changes so that a reader of the former one would misread it gets the next version.
 *
 * event    something that happened, told once it was committed
 * type     what happened, as `thing.happened`
 * payload  what the event says, in a shape with a version
 */
import { z } from 'zod'
import { examples } from './examples.js'
import * as shapes from './payloads.js'

const define = <Shape extends z.ZodObject>(description: string, payload: Shape) => ({ version: 1, description, payload })

export const eventCatalog = {
  'customer.created': define('A customer was made: by provisioning, by creating, or by an import.', shapes.ofCustomer),
  'customer.updated': define('Something of the record of a customer was changed.', shapes.ofCustomer),
  'customer.archived': define('A customer was archived. Its subscriptions were canceled with it.', shapes.ofCustomer),
  'customer.unarchived': define('An archived customer may be provisioned with again.', shapes.ofCustomer),
  'subscription.created': define('There is a new subscription. What it begins with is told by a second event.', shapes.ofSubscription),
  'subscription.updated': define(
    'Content or terms were changed: plan, add-ons, quantities, billing period, end dates, budget, entitlements of its own, who pays.',
    shapes.ofSubscription,
  ),
  'subscription.trial_started': define('A trial began.', shapes.ofSubscription),
  'subscription.trial_ending_soon': define(
    'A trial ends within three days, or as many as the platform is set to (TRIAL_ENDING_SOON_DAYS).',
    shapes.ofSubscription,
  ),
  'subscription.trial_converted': define('A trial became a paid subscription, or was replaced by one.', shapes.ofSubscription),
  'subscription.trial_ended': define('A trial ended and was not converted.', shapes.ofSubscription),
  'subscription.payment_pending': define('Access waits for the first payment.', shapes.ofSubscription),
  'subscription.activated': define('It is active: at once, from its start date on, or by its first payment.', shapes.ofSubscription),
  'subscription.change_scheduled': define('A change, or the cancellation, waits for its date.', shapes.ofSubscription),
  'subscription.renewed': define('The next billing period began.', shapes.ofSubscription),
  'subscription.canceled': define(
    'It has ended: by a request, a replacement, the archive of its customer, or for lack of payment.',
    shapes.ofSubscription,
  ),
  'subscription.expired': define('It has ended at the end date that was agreed, or with its trial.', shapes.ofSubscription),
  'subscription.migrated': define('It was moved to another version of its plan.', shapes.ofMigratedSubscription),
  'subscription.transferred': define('It was moved to another resource of its customer.', shapes.ofMovedSubscription),
  'invoice.created': define('An invoice was written.', shapes.ofInvoice),
  'invoice.paid': define('An invoice was paid.', shapes.ofInvoice),
  'invoice.failed': define('The payment of an invoice failed.', shapes.ofInvoice),
  'invoice.voided': define('An invoice was taken back.', shapes.ofInvoice),
  'payment_method.changed': define('What a customer pays with was set or taken away.', shapes.ofPaymentMethod),
  'entitlements.changed': define(
    'A customer, or a resource with subscriptions of its own, may use other things than was told last: what it gained, lost, or has on other terms.',
    shapes.ofEntitlements,
  ),
  'usage.threshold_reached': define(
    'Usage has reached a threshold of an alert. The id of the event is that of the crossing.',
    shapes.ofUsage,
  ),
  'usage.limit_reached': define('The same for the threshold of 100 per cent: the limit.', shapes.ofUsage),
  'usage.back_under': define(
    'Usage fell below a threshold that it had reached, by the hysteresis of the alert; or the limit was raised.',
    shapes.ofUsage,
  ),
  'usage.reset': define('Usage that had reached a threshold starts again: a usage period has begun.', shapes.ofUsage),
  'budget.threshold_reached': define('What is spent has reached a threshold of an alert for budgets.', shapes.ofBudget),
  'budget.exceeded': define('The same for the threshold of 100 per cent: the budget is used up.', shapes.ofBudget),
  'budget.back_under': define('What is spent is back below a threshold that it had reached; or the budget was raised.', shapes.ofBudget),
  'budget.reset': define('A budget of which a threshold was reached is new: a billing period has begun.', shapes.ofBudget),
  'package.published': define('A version of a plan or an add-on was published.', shapes.ofPackage),
  'import.finished': define('All records of an import were worked off.', shapes.ofImport),
  'webhook_endpoint.disabled': define('An endpoint is not sent to any more. Other endpoints hear of it.', shapes.ofEndpoint),
  'webhook_endpoint.tested': define('Somebody asked for a test of this endpoint, which alone hears of it.', shapes.ofTest),
} as const

export type EventType = keyof typeof eventCatalog
export type EventPayload<Type extends EventType> = z.infer<(typeof eventCatalog)[Type]['payload']>

export const eventTypes = Object.keys(eventCatalog) as EventType[]
export const isEventType = (text: string): text is EventType => Object.hasOwn(eventCatalog, text)

/** Where an event stands among those of its customer. */
const customerOrder = z.strictObject({
  version: z.int().meta({ description: 'That of the state of the customer; never falls.' }),
  index: z.int().meta({ description: 'Grows by one with each event of the customer.' }),
})

/** The body of a webhook. */
export const bodyOf = (type: EventType) =>
  z.strictObject({
    id: z.string().meta({ description: 'Of the event: the same in every attempt. Also the header webhook-id.' }),
    type: z.literal(type),
    version: z.literal(eventCatalog[type].version).meta({ description: 'Of the shape of data.' }),
    timestamp: z.iso.datetime({ precision: 3 }).meta({ description: 'When it happened, by the clock of the environment.' }),
    order: customerOrder.nullable().meta({ description: 'Where it stands among the events of its customer; null: it is of no customer.' }),
    data: eventCatalog[type].payload,
  })

/** The JSON Schema of the body of a webhook, for receivers: fields that are added to a version are valid by it, unlike what is sent by `bodyOf`. */
export const jsonSchemaOf = (type: EventType) =>
  z.toJSONSchema(bodyOf(type), {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })

/** A body as it may come. */
export function exampleBody(type: EventType): Record<string, unknown> {
  const isOfCustomer = !/^(package|import|webhook_endpoint)\./.test(type)
  return {
    id: '019ad0c5-3a51-7c02-9d2b-0c4f6b1f2a11',
    type,
    version: eventCatalog[type].version,
    timestamp: '2027-03-01T09:30:00.000Z',
    order: isOfCustomer ? { version: 1803893400000, index: 7 } : null,
    data: examples[type],
  }
}
