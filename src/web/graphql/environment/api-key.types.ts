import { Field, InputType, Int, ObjectType } from 'type-graphql'
import { type ApiKey as ApiKeyRecord, isValidKey, type KeyKind } from '../../../environment/model/environment.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'An API key, without what makes it one.' })
export class ApiKey {
  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => DateTime, { nullable: true, description: 'Not valid from then on; null: no end.' })
  expiresAt!: EpochMs | null

  @Field(() => String, { description: 'The last four characters of the key.' })
  hint!: string

  @Field(() => String)
  id!: string

  @Field(() => enums.ApiKeyKind)
  kind!: KeyKind

  @Field(() => String, { description: 'Where the key is used.' })
  name!: string

  @Field(() => DateTime, { nullable: true, description: 'Null: it was not revoked.' })
  revokedAt!: EpochMs | null

  @Field(() => enums.ApiKeyStatus)
  status!: string
}

export const toApiKey = ({ environmentId: _, ...key }: ApiKeyRecord, now: EpochMs): ApiKey => ({
  ...key,
  status: isValidKey(key, now) ? 'VALID' : key.revokedAt === null ? 'EXPIRED' : 'REVOKED',
})

@ObjectType({ simpleResolvers: true, description: 'A new API key.' })
export class CreatedApiKey {
  @Field(() => ApiKey)
  apiKey!: ApiKey

  @Field(() => String, { description: 'The key itself. Shown only now.' })
  key!: string

  @Field(() => ApiKey, { nullable: true, description: 'The key that it replaces, with its end; null: none.' })
  replaced!: ApiKey | null
}

@InputType({ description: 'Whose keys.' })
export class ApiKeysInput {
  @Field(() => String, { description: 'The refId of the environment.' })
  environmentRefId!: string
}

@InputType({ description: 'A key to be made.' })
export class CreateApiKeyInput {
  @Field(() => String, { description: 'The refId of the environment.' })
  environmentRefId!: string

  @Field(() => DateTime, { nullable: true, description: 'Not valid from then on; null: no end.' })
  expiresAt?: EpochMs | null

  @Field(() => enums.ApiKeyKind)
  kind!: KeyKind

  @Field(() => String, { description: 'Where the key is used.' })
  name!: string
}

@InputType({ description: 'A key to be replaced.' })
export class RotateApiKeyInput {
  @Field(() => DateTime, { nullable: true, description: 'When the new key ends; null: never.' })
  expiresAt?: EpochMs | null

  @Field(() => String)
  id!: string

  @Field(() => Int, {
    description: 'How long the old key stays valid, in seconds; 0: not at all. It never lives longer than it would have.',
  })
  overlapSeconds!: number
}

@InputType({ description: 'A key to be ended.' })
export class RevokeApiKeyInput {
  @Field(() => String)
  id!: string
}
