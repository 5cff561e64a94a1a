import type { GraphQLField } from 'graphql'
import { Extensions } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'

/** What a mutation does that reports usage. Its input may be an instance of its class or just look like one. */
export type ReportUsage = (input: never, context: RequestContext) => Promise<unknown>

/**
 * Marks a mutation as a report of usage: its one argument, then the context. It is the busiest thing that is written through the door, so the door may
 * call the method itself, with the input as it has read it and without graphql-js. It sends no statements of its own.
 */
export const Report =
  () =>
  <Method extends ReportUsage>(prototype: object, name: string, descriptor: TypedPropertyDescriptor<Method>): void => {
    Extensions({ report: descriptor.value })(prototype, name, descriptor)
  }

/** Undefined: the field is not a report. */
export const reportOf = ({ extensions }: GraphQLField<unknown, unknown>): ReportUsage | undefined =>
  extensions.report as ReportUsage | undefined
