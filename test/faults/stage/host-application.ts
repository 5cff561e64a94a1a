import { Webhook } from 'standardwebhooks'
import type { Heard, WebhookReceiver } from '../../support/webhook-receiver.js'
import type { HeardEvent } from '../told.js'

/** Hears of events, and answers those with 400 whose signature is not right. */
export class HostApplication {
  #heard: HeardEvent[] = []

  constructor(receiver: WebhookReceiver, secret: string) {
    const webhook = new Webhook(secret)
    receiver.answer = (heard, response) => {
      // A whole run of faults would not fit into memory.
      receiver.heard.length = 0
      const isSigned = isVerified(webhook, heard)
      this.#heard.push(eventOf(heard, isSigned))
      response.writeHead(isSigned ? 204 : 400).end()
    }
  }

  /** What it has heard of customers whose identifiers begin so, in the order in which it came; it forgets all that it has heard. */
  take(prefix: string): HeardEvent[] {
    const heard = this.#heard.filter(({ customer }) => customer.startsWith(prefix))
    this.#heard = []
    return heard
  }
}

function isVerified(webhook: Webhook, { id, text, headers }: Heard): boolean {
  try {
    webhook.verify(text, headers as Record<string, string>)
    return headers['webhook-id'] === id
  } catch {
    return false
  }
}

function eventOf({ id, type, order, data }: Heard, isSigned: boolean): HeardEvent {
  const { customerId = '', subscriptionId = '' } = data?.customer ?? data?.subscription ?? data ?? {}
  const about = data?.threshold ? `${data.featureId} ${data.threshold.kind} ${data.threshold.value}` : subscriptionId
  return { id, type, customer: customerId, index: order?.index ?? 0, about, isSigned }
}
