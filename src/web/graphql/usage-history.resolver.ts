import { Arg, Query, Resolver } from 'type-graphql'
import { notSupportedYet } from './not-yet.js'
import { UsageHistoryInput, UsageHistoryV2Input } from './usage-history.inputs.js'
import { UsageHistory, UsageHistoryV2 } from './usage-history.types.js'

@Resolver()
export class UsageHistoryResolver {
  @Query(() => UsageHistory, { description: 'The usage of a feature over time.' })
  usageHistory(
    @Arg('usageHistoryInput', () => UsageHistoryInput, { description: 'Whose usage of what, from when to when.' })
    _input: UsageHistoryInput,
  ): UsageHistory {
    throw notSupportedYet('usageHistory')
  }

  @Query(() => UsageHistoryV2, { description: 'The usage of a feature over time, one series for each combination of dimensions.' })
  usageHistoryV2(
    @Arg('input', () => UsageHistoryV2Input, { description: 'Whose usage of what, from when to when.' }) _input: UsageHistoryV2Input,
  ): UsageHistoryV2 {
    throw notSupportedYet('usageHistoryV2')
  }
}
