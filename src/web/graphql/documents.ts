import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'

/** Counted by the lexer, so that the price of refusing is bounded. The largest documents of known clients have about a third of it. */
export const maxTokens = 5_000
/** Answers nest about 10 levels deep, introspection 14. */
export const maxDepth = 20
/** Most characters of documents that are kept parsed and validated: some thousand documents. */
const maxKeptCharacters = 4_000_000
/** After these many errors a client knows enough. */
const maxErrors = 20

/** A document that was parsed and validated. */
export interface PreparedDocument {
  document: DocumentNode
  /** Whether it looks into the schema, and whether it does nothing else. */
  introspection: 'none' | 'some' | 'only'
}

/** Parses and validates documents once. Clients send the same few over and over: doing it each time costs more than most answers. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #kept = new LRUCache<string, PreparedDocument>({ maxSize: maxKeptCharacters, sizeCalculation: (_, text) => text.length })

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  /** Answers the errors when the document is malformed, too large or asks for what is not in the schema. Refused ones are not kept. */
  prepare(text: string): PreparedDocument | readonly GraphQLError[] {
    const known = this.#kept.get(text)
    if (known) return known
    const prepared = prepareDocument(this.#schema, text)
    if ('document' in prepared) this.#kept.set(text, prepared)
    return prepared
  }
}

function prepareDocument(schema: GraphQLSchema, text: string): PreparedDocument | readonly GraphQLError[] {
  let document: DocumentNode
  try {
    document = parse(text, { maxTokens })
  } catch (error) {
    return [error as GraphQLError]
  }
  const tooDeep = checkDepth(document)
  if (tooDeep) return [tooDeep]
  const errors = validate(schema, document, specifiedRules, { maxErrors })
  return errors.length > 0 ? errors : { document, introspection: introspectionOf(document) }
}

/** Nesting with fragments spread out. Each fragment is measured once, so circles and towers of fragments cost no more than their text. */
function checkDepth(document: DocumentNode): GraphQLError | null {
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node.selectionSet]] : [])),
  )
  const depths = new Map<string, number>()
  const depthOf = ({ selections }: SelectionSetNode): number => {
    let deepest = 0
    for (const node of selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) deepest = Math.max(deepest, fragmentDepth(node.name.value))
      else if (node.selectionSet) deepest = Math.max(deepest, depthOf(node.selectionSet) + (node.kind === Kind.FIELD ? 1 : 0))
    }
    return deepest
  }
  const fragmentDepth = (name: string): number => {
    const measured = depths.get(name)
    const selectionSet = fragments.get(name)
    if (measured !== undefined || !selectionSet) return measured ?? 0
    depths.set(name, 0)
    const depth = depthOf(selectionSet)
    depths.set(name, depth)
    return depth
  }
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
  const deep = operations.find(({ selectionSet }) => depthOf(selectionSet) >= maxDepth)
  return deep ? new GraphQLError(`The document nests deeper than ${maxDepth} levels`, { nodes: deep }) : null
}

function introspectionOf(document: DocumentNode): PreparedDocument['introspection'] {
  // Only root fields have these names in a valid document, wherever fragments put them.
  const fields = new Set<string>()
  const collect = ({ selections }: SelectionSetNode, isRoot: boolean) => {
    for (const node of selections) {
      if (node.kind === Kind.FIELD && isRoot) fields.add(node.name.value)
      else if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet, isRoot)
    }
  }
  for (const node of document.definitions) {
    const isRootFragment =
      node.kind === Kind.FRAGMENT_DEFINITION && ['Query', 'Mutation', 'Subscription'].includes(node.typeCondition.name.value)
    if (node.kind === Kind.OPERATION_DEFINITION || isRootFragment) collect((node as OperationDefinitionNode).selectionSet, true)
  }
  const isIntrospection = (name: string) => name === '__schema' || name === '__type'
  const names = [...fields].filter((name) => name !== '__typename')
  if (!names.some(isIntrospection)) return 'none'
  return names.every(isIntrospection) ? 'only' : 'some'
}
