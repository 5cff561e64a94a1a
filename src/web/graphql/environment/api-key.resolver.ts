import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { ApiKey, ApiKeysInput, CreateApiKeyInput, CreatedApiKey, RevokeApiKeyInput, RotateApiKeyInput, toApiKey } from './api-key.types.js'

@Resolver()
export class ApiKeyResolver {
  @Query(() => [ApiKey], {
    description:
      'The API keys of an environment, oldest first, also those that are no longer valid. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  async apiKeys(
    @Arg('input', () => ApiKeysInput, { description: 'Whose keys.' }) { environmentRefId }: ApiKeysInput,
    @Ctx() { app, now }: RequestContext,
  ): Promise<ApiKey[]> {
    return (await app.environments.listKeys(environmentRefId)).map((key) => toApiKey(key, now))
  }

  @Mutation(() => CreatedApiKey, {
    description: 'Makes an API key and answers it, once. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  async createApiKey(
    @Arg('input', () => CreateApiKeyInput, { description: 'Of which environment, and what it may.' })
    { environmentRefId, kind, name, expiresAt }: CreateApiKeyInput,
    @Ctx() { app }: RequestContext,
  ): Promise<CreatedApiKey> {
    const { key, record } = await app.environments.createKey({ environment: environmentRefId, kind, name, expiresAt: expiresAt ?? null })
    return { key, apiKey: toApiKey(record, record.createdAt), replaced: null }
  }

  @Mutation(() => CreatedApiKey, {
    description:
      'Makes another key in the place of one and answers it, once; for a while both are valid. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  async rotateApiKey(
    @Arg('input', () => RotateApiKeyInput, { description: 'Which key, and how long both are valid.' })
    { id, overlapSeconds, expiresAt }: RotateApiKeyInput,
    @Ctx() { app }: RequestContext,
  ): Promise<CreatedApiKey> {
    const { key, record, replaced } = await app.environments.rotateKey(id, {
      overlapMs: overlapSeconds * 1_000,
      expiresAt: expiresAt ?? null,
    })
    return { key, apiKey: toApiKey(record, record.createdAt), replaced: toApiKey(replaced, record.createdAt) }
  }

  @Mutation(() => ApiKey, {
    description:
      'Ends an API key at once; other web processes may accept it for 5 seconds more. Safe to repeat. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  async revokeApiKey(
    @Arg('input', () => RevokeApiKeyInput, { description: 'Which key.' }) { id }: RevokeApiKeyInput,
    @Ctx() { app, now }: RequestContext,
  ): Promise<ApiKey> {
    return toApiKey(await app.environments.revokeKey(id), now)
  }
}
