import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql'
import { fromImportCustomerBulkInput, ImportCustomerBulkInput } from '../customer/customer.inputs.js'
import type { RequestContext } from '../operations/context.js'
import { codeOfStoredReason } from '../operations/errors.js'
import * as enums from '../schema/enums.js'
import { ImportItem, ImportJob, ImportJobInput, toImportJob } from './import.types.js'

@Resolver(() => ImportJob)
export class ImportResolver {
  @Query(() => ImportJob, {
    nullable: true,
    description: 'How far an import is, and what became of each record; null when there is none of that id.',
  })
  async importJob(
    @Arg('input', () => ImportJobInput, { description: 'Which import.' }) { id }: ImportJobInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const job = await app.imports.find(identity.environmentId, id)
    return job && toImportJob(job)
  }

  @Mutation(() => String, {
    nullable: true,
    description: 'Imports customers in the background, each on its own. Answers the id that `importJob` tells the outcomes of.',
  })
  importCustomersBulk(
    @Arg('input', () => ImportCustomerBulkInput, { description: 'The customers.' }) input: ImportCustomerBulkInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return app.imports.start(identity.environmentId, 'CUSTOMERS', fromImportCustomerBulkInput(input))
  }

  @FieldResolver(() => [ImportItem], { description: 'The outcomes in the order of the request.' })
  async items(
    @Root() { id }: ImportJob,
    @Ctx() { app, identity }: RequestContext,
    @Arg('first', () => Int, { nullable: true, description: 'How many; at most 1,000, default 100.' }) first: number | null,
    @Arg('after', () => Int, { nullable: true, description: 'Those after this index; default: from the first.' }) after: number | null,
    @Arg('status', () => enums.ImportItemStatus, { nullable: true, description: 'Only those; default: all.' })
    status: keyof typeof enums.ImportItemStatus | null,
  ): Promise<ImportItem[]> {
    const items = await app.imports.items(identity.environmentId, id, { status, after: after ?? undefined, limit: first ?? undefined })
    return items.map(({ position, errorReason, ...item }) => ({
      ...item,
      index: position,
      errorCode: errorReason && codeOfStoredReason(errorReason),
    }))
  }
}
