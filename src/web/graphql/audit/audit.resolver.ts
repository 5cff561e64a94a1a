import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import { environmentNotFound } from '../../../environment/model/problems.js'
import { invalidInput, Problem } from '../../../kernel/problem.js'
import { CursorPaging } from '../lists/list.inputs.js'
import { connectionType, toConnection } from '../lists/page.types.js'
import type { RequestContext } from '../operations/context.js'
import { AuditEntry, AuditLogFilter, toAuditEntry } from './audit.types.js'

const AuditEntryConnection = connectionType('AuditEntry', AuditEntry, 'changes of the audit log')

@Resolver()
export class AuditResolver {
  @Query(() => AuditEntryConnection, {
    description: 'Who changed what, when, from what to what: the latest first. For server keys, and for the operator.',
  })
  async auditLog(
    @Arg('filter', () => AuditLogFilter, { nullable: true, description: 'Which changes.' }) filter: AuditLogFilter | null,
    @Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' }) paging: CursorPaging | null,
    @Ctx() context: RequestContext,
  ) {
    const environmentId = await environmentOf(context, filter?.environmentRefId ?? null)
    return toConnection(await context.app.auditLog.page(environmentId, filter ?? {}, paging), toAuditEntry)
  }
}

async function environmentOf({ app, identity, isOperator }: RequestContext, refId: string | null): Promise<string> {
  if (refId === null && identity.kind === 'OPERATOR')
    throw invalidInput('Say of which environment: filter.environmentRefId.', { path: 'filter.environmentRefId' })
  if (refId === null || refId === identity.environmentRefId) return identity.environmentId
  if (!isOperator)
    throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'The key belongs to another environment than environmentRefId names.')
  const environment = await app.environments.find(refId)
  if (!environment) throw environmentNotFound(refId)
  return environment.id
}
