import { Field, InputType, ObjectType } from 'type-graphql'
import type { AuditFilter } from '../../../audit/log.js'
import {
  type ActorKind,
  type AuditEntry as AuditEntryRecord,
  actorKinds,
  type EntityKind,
  entityKinds,
  type Fields,
} from '../../../audit/model/entry.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { defineEnum } from '../schema/define-enum.js'
import { DateTime, Json } from '../schema/scalars.js'

const AuditActorKind = defineEnum(
  'AuditActorKind',
  'Who changes something: who holds an API key, the operator, or a rule of the platform.',
  actorKinds,
)
const AuditEntityKind = defineEnum('AuditEntityKind', 'What is changed.', entityKinds)

@ObjectType({ simpleResolvers: true, description: 'Who has changed something.' })
class AuditActor {
  @Field(() => String, { nullable: true, description: 'Of the key, or of what the rule works off (an import); null: there is none.' })
  id!: string | null

  @Field(() => AuditActorKind)
  kind!: ActorKind

  @Field(() => String, { description: 'Of the key, or of the rule.' })
  name!: string
}

@ObjectType({ simpleResolvers: true, description: 'One change of one entity.' })
export class AuditEntry {
  @Field(() => AuditActor)
  actor!: AuditActor

  @Field(() => String, { nullable: true, description: 'Of the caller; null: nobody has called.' })
  address!: string | null

  @Field(() => Json, {
    nullable: true,
    description: 'The fields that changed, as they are now; of an entity that was made all that it has. Null: it is no more.',
  })
  after!: Fields | null

  @Field(() => DateTime)
  at!: EpochMs

  @Field(() => Json, {
    nullable: true,
    description:
      'The fields that changed, as they were. {"changed": true} stands for names, e-mail addresses and secrets. Null: it was not there.',
  })
  before!: Fields | null

  @Field(() => String, { description: 'Your identifier, where the entity has one.' })
  entityId!: string

  @Field(() => AuditEntityKind)
  entityKind!: EntityKind

  @Field(() => String)
  id!: string

  @Field(() => String, { description: 'In whose course it was changed: a mutation, a command of the operator, or a rule of the platform.' })
  operation!: string

  @Field(() => String, { nullable: true, description: 'Joins it with the answer and with log lines; null: nobody has called.' })
  traceId!: string | null
}

@InputType({ description: 'Which changes. All that is given must hold.' })
export class AuditLogFilter implements AuditFilter {
  @Field(() => String, { nullable: true, description: 'Name or id of the key or rule.' })
  actor?: string | null

  @Field(() => AuditActorKind, { nullable: true })
  actorKind?: ActorKind | null

  @Field(() => String, { nullable: true, description: 'As entries name it.' })
  entityId?: string | null

  @Field(() => AuditEntityKind, { nullable: true })
  entityKind?: EntityKind | null

  @Field(() => String, {
    nullable: true,
    description: 'The refId of the environment, for the operator, who needs no key of it. Default: that of the key.',
  })
  environmentRefId?: string | null

  @Field(() => DateTime, { nullable: true, description: 'The first instant.' })
  from?: EpochMs | null

  @Field(() => String, { nullable: true, description: 'The mutation, command or rule.' })
  operation?: string | null

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  to?: EpochMs | null
}

export const toAuditEntry = ({ environmentId: _, ...entry }: AuditEntryRecord): AuditEntry => entry
