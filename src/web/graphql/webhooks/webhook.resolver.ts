import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import { invalidInput } from '../../../kernel/problem.js'
import type { RequestContext } from '../operations/context.js'
import {
  CreateWebhookEndpointInput,
  ResendWebhookDeliveriesInput,
  ResentWebhooks,
  RotateWebhookSecretInput,
  toDeliveryPage,
  toEndpoint,
  UpdateWebhookEndpointInput,
  WebhookDeliveriesInput,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointInput,
  WebhookEndpointWithSecret,
  WebhookTest,
} from './webhook.types.js'

@Resolver()
export class WebhookResolver {
  @Query(() => [WebhookEndpoint], { description: 'The webhook endpoints of the environment, oldest first.' })
  async webhookEndpoints(@Ctx() { app, identity }: RequestContext): Promise<WebhookEndpoint[]> {
    return (await app.webhooks.list(identity.environmentId)).map(toEndpoint)
  }

  @Query(() => WebhookDeliveryPage, {
    description:
      'What was, and is to be, delivered to an endpoint, with every attempt; of 30 days, unless the operator keeps more or less.',
  })
  async webhookDeliveries(
    @Arg('input', () => WebhookDeliveriesInput, { description: 'Which of them.' }) { first, ...asked }: WebhookDeliveriesInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<WebhookDeliveryPage> {
    return toDeliveryPage(await app.webhooks.deliveries(identity.environmentId, { ...asked, first: first ?? 20 }))
  }

  @Mutation(() => WebhookEndpointWithSecret, {
    description: 'Makes a webhook endpoint. It hears of what happens from now on, signed with the secret that is answered once.',
  })
  async createWebhookEndpoint(
    @Arg('input', () => CreateWebhookEndpointInput, { description: 'Where it is, and what it hears of.' })
    { url, description, eventTypes, isPaused }: CreateWebhookEndpointInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<WebhookEndpointWithSecret> {
    const settings = { url, description: description ?? null, eventTypes: eventTypes ?? [], isPaused: isPaused ?? false }
    const { endpoint, secret } = await app.webhooks.create(identity.environmentId, settings)
    return { endpoint: toEndpoint(endpoint), secret }
  }

  @Mutation(() => WebhookEndpoint, { description: 'Changes a webhook endpoint. Safe to repeat.' })
  async updateWebhookEndpoint(
    @Arg('input', () => UpdateWebhookEndpointInput, { description: 'What is to be changed.' })
    { id, url, description, eventTypes, isPaused }: UpdateWebhookEndpointInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<WebhookEndpoint> {
    const change = {
      ...(url !== undefined && url !== null && { url }),
      ...(description !== undefined && { description }),
      ...(eventTypes && { eventTypes }),
      ...(isPaused !== undefined && isPaused !== null && { isPaused }),
    }
    return toEndpoint(await app.webhooks.update(identity.environmentId, id, change))
  }

  @Mutation(() => String, {
    description: 'Ends a webhook endpoint, with what waits for it and what is known of its deliveries. Answers its id.',
  })
  async deleteWebhookEndpoint(
    @Arg('input', () => WebhookEndpointInput, { description: 'Which endpoint.' }) { id }: WebhookEndpointInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<string> {
    await app.webhooks.delete(identity.environmentId, id)
    return id
  }

  @Mutation(() => WebhookEndpointWithSecret, {
    description:
      'Makes another secret for an endpoint and answers it, once. For a while deliveries are signed with the former one too; whatever is rotated meanwhile, unless with an overlap of 0. So it is safe to repeat.',
  })
  async rotateWebhookSecret(
    @Arg('input', () => RotateWebhookSecretInput, { description: 'Of which endpoint, and how long both are used.' })
    { id, overlapSeconds }: RotateWebhookSecretInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<WebhookEndpointWithSecret> {
    const { endpoint, secret } = await app.webhooks.rotateSecret(identity.environmentId, id, overlapSeconds)
    return { endpoint: toEndpoint(endpoint), secret }
  }

  @Mutation(() => WebhookTest, { description: 'Has an event webhook_endpoint.tested sent to an endpoint, whichever types it hears of.' })
  async testWebhookEndpoint(
    @Arg('input', () => WebhookEndpointInput, { description: 'Which endpoint.' }) { id }: WebhookEndpointInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<WebhookTest> {
    return { eventId: await app.webhooks.test(identity.environmentId, id) }
  }

  @Mutation(() => ResentWebhooks, {
    description: 'Has one event, or all since a time, delivered to an endpoint once more, with the ids that they had.',
  })
  async resendWebhookDeliveries(
    @Arg('input', () => ResendWebhookDeliveriesInput, { description: 'Which of them.' })
    { endpointId, eventId, since, onlyFailed }: ResendWebhookDeliveriesInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<ResentWebhooks> {
    const isOne = eventId !== null && eventId !== undefined
    const isSince = since !== null && since !== undefined
    if (isOne === isSince) throw invalidInput('Give either eventId or since.', { path: 'eventId' })
    const wanted = isOne ? { eventId } : { since: since!, onlyFailed: onlyFailed ?? false }
    return { count: await app.webhooks.resend(identity.environmentId, endpointId, wanted) }
  }
}
