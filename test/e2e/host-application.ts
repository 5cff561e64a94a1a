/** A host application that only listens: its endpoint, what is told to it, and what it has the platform do. */
import type { ServerResponse } from 'node:http'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import type { EventType } from '../../src/notifications/model/catalog.js'
import { eventually } from '../support/eventually.js'
import type { OwnProcesses } from '../support/own-processes.js'
import { type Heard, WebhookReceiver } from '../support/webhook-receiver.js'

/** Moving a clock does a fortnight's work. */
export const patienceMs = 60_000

/** What the platform knows of an event and its attempts. */
export interface Delivery {
  eventId: string
  eventType: EventType
  status: string
  body: { order: { index: number } | null; data: { subscription?: { subscriptionId: string } } }
  attempts: { at: string; statusCode: number | null; error: string | null; response: string | null }[]
}

/** A threshold that was reached. */
interface Reached {
  id: string
  threshold: { value: number }
}

/** How an endpoint can fare with an attempt. */
const moods = {
  fails: (response: ServerResponse) => void response.writeHead(500).end(),
  isBusy: (response: ServerResponse) => void response.writeHead(429, { 'retry-after': '3' }).end(),
  isSlow: (response: ServerResponse) => void setTimeout(() => response.writeHead(204).end(), 1_000),
  isSilent: () => undefined,
  saysTooMuch: (response: ServerResponse) => {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write('y'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  },
} as const

type Moods = Partial<Record<EventType, keyof typeof moods>>

export class HostApplication {
  /** By the socket. */
  readonly pushed: Reached[] = []

  private constructor(
    private readonly own: OwnProcesses,
    readonly receiver: WebhookReceiver,
    private readonly endpoint: { id: string; secret: string },
  ) {}

  /** `first`: how its endpoint fares with the first attempt of an event. */
  static async open(own: OwnProcesses, first: Moods): Promise<HostApplication> {
    const receiver = await new WebhookReceiver().listen()
    receiver.answer = ({ id, type }, response) => {
      const isFirst = receiver.heard.filter((other) => other.id === id).length === 1
      const mood = isFirst ? first[type as EventType] : undefined
      if (mood) moods[mood](response)
      else response.writeHead(204).end()
    }
    const { createWebhookEndpoint } = await own.api.call<{ createWebhookEndpoint: { secret: string; endpoint: { id: string } } }>(
      'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret endpoint { id } } }',
      { input: { url: receiver.url } },
      patienceMs,
    )
    const { secret, endpoint } = createWebhookEndpoint
    return new HostApplication(own, receiver, { id: endpoint.id, secret })
  }

  call<T>(query: string, input: object = {}): Promise<T> {
    return this.own.api.call<T>(query, { input }, patienceMs)
  }

  advanceTo(at: number): Promise<unknown> {
    return this.call('mutation ($input: TestClockInput!) { advanceTestClock(input: $input) { frozenTime } }', {
      frozenTime: new Date(at).toISOString(),
    })
  }

  /** Nobody's invoices are failed by themselves: that is the operator's word. */
  async failInvoice(billingId: string): Promise<unknown> {
    const { url, apiKey } = this.own.api
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'x-operator-key': 'operator-key-of-a-test-run' },
      body: JSON.stringify({
        query: 'mutation ($input: FailedInvoiceInput!) { markInvoiceFailed(input: $input) { billingId } }',
        variables: { input: { billingId, errorMessage: 'The card was declined.' } },
      }),
    })
    return response.json()
  }

  /** Hears of thresholds by the socket too, until the answered function is called. */
  listen(): () => Promise<void> {
    const client = createClient({
      url: `${this.own.urlOf('web').replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { headers: { 'X-API-KEY': this.own.api.apiKey } },
      lazy: false,
    })
    const end = client.subscribe<{ alertTriggered: Reached }>(
      { query: 'subscription { alertTriggered { id threshold { value } } }' },
      { next: ({ data }) => data && this.pushed.push(data.alertTriggered), error: () => undefined, complete: () => undefined },
    )
    return async () => {
      end()
      await client.dispose()
    }
  }

  async deliveries(): Promise<Delivery[]> {
    const { webhookDeliveries } = await this.call<{ webhookDeliveries: { deliveries: Delivery[] } }>(
      `query ($input: WebhookDeliveriesInput!) { webhookDeliveries(input: $input) {
        deliveries { eventId eventType status body attempts { at statusCode error response } } } }`,
      { endpointId: this.endpoint.id, first: 100 },
    )
    return webhookDeliveries.deliveries
  }

  /** That it happened, whether the endpoint was told or not. */
  happened(type: EventType, condition: (delivery: Delivery) => boolean = () => true): Promise<Delivery> {
    const isIt = (delivery: Delivery) => delivery.eventType === type && condition(delivery)
    return eventually(`${type} to happen`, async () => (await this.deliveries()).find(isIt), patienceMs)
  }

  /** Answers all that happened, once nothing of it waits any more. */
  allDelivered(): Promise<Delivery[]> {
    const all = async () => {
      const deliveries = await this.deliveries()
      return deliveries.every(({ status }) => status === 'DELIVERED') ? deliveries : null
    }
    return eventually('nothing to be left', all, patienceMs)
  }

  heard(type: EventType, condition: (event: Heard) => boolean = () => true): Promise<Heard> {
    const isIt = (event: Heard) => event.type === type && condition(event)
    return eventually(`${type} to be heard`, () => this.receiver.heard.find(isIt), patienceMs)
  }

  /** All requests, each verified as a receiver does it. */
  verified(): Heard[] {
    return this.receiver.verified(this.endpoint.secret)
  }
}
