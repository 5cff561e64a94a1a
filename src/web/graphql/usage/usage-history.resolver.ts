import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { fromUsageHistoryInput, fromUsageHistoryV2Input, UsageHistoryInput, UsageHistoryV2Input } from './usage-history.inputs.js'
import { toUsageHistory, toUsageHistoryV2, UsageHistory, UsageHistoryV2 } from './usage-history.types.js'

@Resolver()
export class UsageHistoryResolver {
  @Query(() => UsageHistory, {
    description:
      'The usage of a feature over time. With a reset period, one point for each of them; without, in the finest steps that give a readable line.',
  })
  async usageHistory(
    @Arg('usageHistoryInput', () => UsageHistoryInput, { description: 'Whose usage of what, from when to when.' }) input: UsageHistoryInput,
    @Ctx() { app, identity, now }: RequestContext,
  ): Promise<UsageHistory> {
    const question = fromUsageHistoryInput(input, now)
    return toUsageHistory(await app.usage.history.read(identity.environmentId, question), question)
  }

  @Query(() => UsageHistoryV2, {
    description:
      'The usage of a feature over time, one series for each combination of dimensions: where it stood at the end of each step since it last started again.',
  })
  async usageHistoryV2(
    @Arg('input', () => UsageHistoryV2Input, { description: 'Whose usage of what, from when to when.' }) input: UsageHistoryV2Input,
    @Ctx() { app, identity, now }: RequestContext,
  ): Promise<UsageHistoryV2> {
    return toUsageHistoryV2(await app.usage.history.read(identity.environmentId, fromUsageHistoryV2Input(input, now)))
  }
}
