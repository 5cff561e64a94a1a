import { Field, InputType, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { DateTime } from '../schema/scalars.js'

@InputType({ description: 'What time it is to be in the test environment.' })
export class TestClockInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => DateTime, { description: 'Not before the time of now in the environment.' })
  frozenTime!: EpochMs
}

@ObjectType({
  simpleResolvers: true,
  description:
    'The clock of a test environment. Time stands still at it until it is moved on; once the real time has passed it, the real time counts.',
})
export class TestClock {
  @Field(() => DateTime, { description: 'The time in the environment.' })
  frozenTime!: EpochMs
}
