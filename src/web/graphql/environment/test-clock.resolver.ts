import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { TestClock, TestClockInput } from './test-clock.types.js'

@Resolver()
export class TestClockResolver {
  @Query(() => TestClock, { nullable: true, description: 'The environment’s own clock; null: the real time counts.' })
  async testClock(@Ctx() { app, identity }: RequestContext): Promise<TestClock | null> {
    const clock = await app.testClocks.find(identity.environmentId)
    return clock && { frozenTime: clock.now }
  }

  @Mutation(() => TestClock, { description: 'Gives a test environment its own clock, at a time of now or later. It has one at most.' })
  async createTestClock(
    @Arg('input', () => TestClockInput, { description: 'What time it is to be.' }) { frozenTime }: TestClockInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<TestClock> {
    return { frozenTime: (await app.testClocks.create(identity.environmentId, frozenTime)).now }
  }

  @Mutation(() => TestClock, {
    description:
      'Moves the environment’s clock forward. Everything that comes due on the way happens at its instant, in order, and is pushed to who listens; the answer comes after it.',
  })
  async advanceTestClock(
    @Arg('input', () => TestClockInput, { description: 'What time it is to be.' }) { frozenTime }: TestClockInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<TestClock> {
    return { frozenTime: (await app.testClocks.advance(identity.environmentId, frozenTime)).now }
  }
}
