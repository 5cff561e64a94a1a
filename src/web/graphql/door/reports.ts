/**
 * Reports of usage that go round graphql-js. A host application sends the same document thousands of times a second, and what graphql-js finds out anew
 * about it each time is a quarter of what the process does for a report. So its variable is read, the mutation called, and the answer written by what was
 * found out once. Nothing is refused here but what the mutation refuses: what is not exactly as expected is executed by graphql-js, which knows the words.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { authorize, type RootArguments } from '../../access/auth.js'
import type { RequestContext } from '../operations/context.js'
import { reportOf } from '../usage/report-field.js'
import { readerOf, unread } from './input-reader.js'

/** The one report that a document is about. */
export interface DirectReport {
  /** What is reported, ready to be; null: its variable is not exactly what the schema says. */
  read(variables: Readonly<Record<string, unknown>> | null | undefined): ReadReport | null
}

/** Reports, and answers as graphql-js would. Never rejects. */
export type ReadReport = (context: RequestContext) => Promise<ExecutionResult>

/**
 * Null: the valid document is something else than one report in the way that SDKs send it, which is with all of its input in a variable, without
 * directives, and asking for plain fields.
 */
export function directReportOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operations: readonly OperationDefinitionNode[],
): DirectReport | null {
  const [operation, ...others] = operations
  const [node, ...more] = operation?.selectionSet.selections ?? []
  if (operation?.operation !== 'mutation' || others.length > 0 || node?.kind !== Kind.FIELD || more.length > 0) return null
  const field = schema.getMutationType()?.getFields()[node.name.value]
  const report = field && reportOf(field)
  const [given, ...furtherArguments] = node.arguments ?? []
  const [variable, ...furtherVariables] = operation.variableDefinitions ?? []
  if (!report || given?.value.kind !== Kind.VARIABLE || furtherArguments.length > 0 || furtherVariables.length > 0) return null
  if (!variable || variable.defaultValue || [operation, node, variable].some(hasDirectives)) return null
  const argument = field.args.find(({ name }) => name === given.name.value)!
  const write = writerOf(field.type, node, fragmentsOf(document))
  if (!write) return null
  const read = readerOf(argument.type)
  const variableName = variable.variable.name.value
  const key = (node.alias ?? node.name).value
  if (key === prototype) return null
  return {
    read(variables) {
      const input = read(variables?.[variableName])
      if (input === unread) return null
      return async (context) => {
        try {
          const args = { [argument.name]: input } as RootArguments
          authorize(context.identity, { operation: 'Mutation', field: field.name, args })
          return { data: { [key]: write(await report(input as never, context)) } }
        } catch (error) {
          const errors = [locatedError(error, [node], [key])]
          return { errors, data: isNonNullType(field.type) ? null : { [key]: null } }
        }
      }
    },
  }
}

type Write = (value: unknown) => unknown

/** What no plain object can have under this name. */
const prototype = '__proto__'

/** Null: the answer is more than plain fields. */
function writerOf(type: GraphQLOutputType, node: FieldNode, fragments: Fragments): Write | null {
  if (isNonNullType(type)) {
    const write = writerOf(type.ofType, node, fragments)
    return write && ((value) => write(value) ?? missing(node))
  }
  const write = writerOfPresent(type, node, fragments)
  return write && ((value) => (value === null || value === undefined ? null : write(value)))
}

function writerOfPresent(type: GraphQLOutputType, node: FieldNode, fragments: Fragments): Write | null {
  if (isLeafType(type)) return (value) => type.serialize(value)
  if (isListType(type)) {
    const write = writerOf(type.ofType, node, fragments)
    return write && ((values) => (values as unknown[]).map(write))
  }
  const writers = new Map<string, Write>()
  if (!isObjectType(type) || !node.selectionSet || !collectWriters(writers, type, node.selectionSet, fragments)) return null
  return (value) => {
    const object: Record<string, unknown> = {}
    for (const [key, write] of writers) object[key] = write(value)
    return object
  }
}

/** Adds what the selections answer, by the key of the answer, in order; false: not all of it is plain. */
function collectWriters(
  writers: Map<string, Write>,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fragments: Fragments,
): boolean {
  return selections.every((selection) => {
    if (hasDirectives(selection)) return false
    if (selection.kind !== Kind.FIELD) {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection
      // An object has no types but its own.
      return !hasDirectives(fragment) && collectWriters(writers, type, fragment.selectionSet, fragments)
    }
    const name = selection.name.value
    const key = (selection.alias ?? selection.name).value
    if (key === prototype) return false
    if (name === '__typename') return Boolean(writers.set(key, () => type.name))
    const field = type.getFields()[name]!
    const write = field.resolve || selection.selectionSet ? null : writerOf(field.type, selection, fragments)
    if (!write) return false
    writers.set(key, (value) => write((value as Record<string, unknown>)[name]))
    return true
  })
}

/** As graphql-js has it: what a type promises is not left out, although what was reported is counted. */
function missing({ name }: FieldNode): never {
  throw new Error(`no value for ${name.value}`)
}

const hasDirectives = ({ directives = [] }: { readonly directives?: readonly unknown[] }) => directives.length > 0

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])))
