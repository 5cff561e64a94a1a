import { Arg, Ctx, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql'
import { invalidInput } from '../../../kernel/problem.js'
import type { AlertMessage } from '../../../updates/wire/alert-message.js'
import { CursorPaging } from '../lists/list.inputs.js'
import { toConnection } from '../lists/page.types.js'
import type { RequestContext } from '../operations/context.js'
import {
  Alert,
  AlertConnection,
  AlertCrossing,
  AlertCrossingConnection,
  AlertCrossingFilter,
  AlertInput,
  CreateAlertInput,
  fromThresholds,
  toAlert,
  toCrossing,
  toReached,
  UpdateAlertInput,
} from './alert.types.js'

@Resolver()
export class AlertResolver {
  @Query(() => AlertConnection, { description: 'The alerts of the environment: the newest first.' })
  async alerts(
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toConnection(await app.alerts.list(identity.environmentId, paging), toAlert)
  }

  @Query(() => AlertCrossingConnection, {
    description:
      'Thresholds that were reached: the latest first. Those that were left are kept for 90 days, unless the operator keeps them for more or less.',
  })
  async alertCrossings(
    @Arg('filter', () => AlertCrossingFilter, { nullable: true, description: 'Which of them.' }) filter: AlertCrossingFilter | null,
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toConnection(await app.alerts.crossings(identity.environmentId, filter ?? {}, paging), toCrossing)
  }

  @Mutation(() => Alert, {
    description: 'Makes an alert. What is reached already is told, too. Safe to repeat: one that says the same is answered.',
  })
  async createAlert(
    @Arg('input', () => CreateAlertInput, { description: 'What it watches, for whom, and where it tells something.' })
    { subject, featureId, customerId, planId, thresholds, hysteresisPercent, description }: CreateAlertInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<Alert> {
    const isOfFeature = (subject ?? 'FEATURE') === 'FEATURE'
    if (isOfFeature !== (typeof featureId === 'string'))
      throw invalidInput(isOfFeature ? 'Say of which feature: featureId.' : 'An alert for budgets is of no feature.', { path: 'featureId' })
    const alert = {
      featureId: featureId ?? null,
      customerId: customerId ?? null,
      planId: planId ?? null,
      thresholds: fromThresholds(thresholds),
      hysteresisPercent: hysteresisPercent ?? undefined,
      description: description ?? null,
    }
    return toAlert(await app.alerts.create(identity.environmentId, alert))
  }

  @Mutation(() => Alert, { description: 'Changes an alert; whom and what it watches stays. Safe to repeat.' })
  async updateAlert(
    @Arg('input', () => UpdateAlertInput, { description: 'What is to be changed.' })
    { id, thresholds, hysteresisPercent, description }: UpdateAlertInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<Alert> {
    const change = {
      ...(thresholds && { thresholds: fromThresholds(thresholds) }),
      ...(typeof hysteresisPercent === 'number' && { hysteresisPercent }),
      ...(description !== undefined && { description }),
    }
    return toAlert(await app.alerts.update(identity.environmentId, id, change))
  }

  @Mutation(() => String, { description: 'Ends an alert, and forgets what was reached of it. Answers its id.' })
  async deleteAlert(
    @Arg('input', () => AlertInput, { description: 'Which alert.' }) { id }: AlertInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<string> {
    await app.alerts.delete(identity.environmentId, id)
    return id
  }

  @Subscription(() => AlertCrossing, {
    description:
      'Each threshold of an alert that is reached while you listen. Needs a server key. What was reached while you did not is answered by alertCrossings.',
    subscribe: ({ context }: { context: RequestContext }) => context.alerts(),
  })
  alertTriggered(@Root() { crossing }: AlertMessage): AlertCrossing {
    return toReached(crossing)
  }
}
