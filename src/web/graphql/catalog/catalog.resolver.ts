import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { Json } from '../schema/scalars.js'
import { CatalogChange } from './catalog.types.js'

@Resolver()
export class CatalogResolver {
  @Query(() => Json, {
    description: 'The catalog as one document: what `applyCatalog` takes. Its `version` names what is sold, for `expectedVersion`.',
  })
  catalog(@Ctx() { app, identity }: RequestContext) {
    return app.catalog.write(identity.environmentId)
  }

  @Mutation(() => [CatalogChange], {
    description:
      'Makes the catalog what the document says, all or nothing, and answers the difference. Safe to repeat: the second time nothing differs.',
  })
  applyCatalog(
    @Arg('input', () => Json, { description: 'The catalog document.' }) input: unknown,
    @Arg('dryRun', () => Boolean, { nullable: true, description: 'Only answer what would change.' }) dryRun: boolean | null,
    @Arg('archiveMissing', () => Boolean, { nullable: true, description: 'Archive what the document leaves out; else it stays.' })
    archiveMissing: boolean | null,
    @Arg('expectedVersion', () => String, {
      nullable: true,
      description:
        'The `version` of the catalog that the document was made from: when another one is in force nothing is changed, and the error (CatalogVersionMismatch) has the `version` of that one and the `changes` that applying the document to it would make.',
    })
    expectedVersion: string | null,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const options = { dryRun: dryRun ?? false, archiveMissing: archiveMissing ?? false, expectedVersion }
    return app.catalog.apply(identity.environmentId, input, options)
  }
}
