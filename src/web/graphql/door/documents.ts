import { hash } from 'node:crypto'
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
import { turns } from '../../access/fair-turns.js'
import { type DocumentBounds, documentBounds } from '../operations/document-bounds.js'
import { toGraphqlError } from '../operations/errors.js'
import { refusalOf } from '../operations/input-bounds.js'
import { reportOf } from '../usage/report-field.js'
import { weighDocument } from './document-weight.js'
import { fieldsOfOneState, questionVariableOf } from './kept-answers.js'
import { type CostOf, checkCounts, checkNesting, checkText, maxTokens, prepareCost } from './limits.js'
import { type DirectReport, directReportOf } from './reports.js'

/** Memory for documents that are kept parsed and validated: of those that clients send, some thousand. */
const maxKeptBytes = 32 * 2 ** 20
/** A larger document is not kept, so that none of the others goes for it. As large as one of the most tokens. */
const maxDocumentBytes = maxKeptBytes / 16
/** Documents that were sent once are remembered by a digest. */
const maxSeenOnce = 5_000
/** After these many errors a client knows enough. */
const maxErrors = 20

/** A document that was parsed and validated. */
export interface PreparedDocument {
  document: DocumentNode
  /** Whether it looks into the schema, and whether it does nothing else. */
  introspection: 'none' | 'some' | 'only'
  /** As the parser found them. */
  operations: readonly OperationDefinitionNode[]
  costOf: CostOf
  bounds: DocumentBounds
  /** See `questionVariableOf`. */
  questionVariable: string | null
  /** It may send statements that end with it, or change what others must hear of before it is answered. */
  usesDatabase: boolean
  /** See `directReportOf`. */
  report: DirectReport | null
}

/** The operation that a request means; undefined: it does not say which, or names none of the document. */
export function operationOf({ operations }: PreparedDocument, name: string | null | undefined): OperationDefinitionNode | undefined {
  // No operation is called ''; graphql-js says so.
  if (name !== null && name !== undefined) return operations.find((operation) => operation.name?.value === name)
  return operations.length === 1 ? operations[0] : undefined
}

/** The first root field. */
export function fieldOf(operation: OperationDefinitionNode | undefined): string | undefined {
  const first = operation?.selectionSet.selections.find((node) => node.kind === 'Field')
  return first?.name.value
}

/**
 * Parses and validates documents once. Clients send the same few over and over: doing it each time costs more than most answers. A document is kept when it
 * comes for the second time: so those that somebody makes up anew for each request take no memory, and nobody's place.
 */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #kept = new LRUCache<string, PreparedDocument>({
    maxSize: maxKeptBytes,
    maxEntrySize: maxDocumentBytes,
    sizeCalculation: ({ document }, text) => weighDocument(document, text),
  })

  readonly #seenOnce = new LRUCache<string, true>({ max: maxSeenOnce })

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  /** Memory that the kept ones take. */
  get bytes(): number {
    return this.#kept.calculatedSize
  }

  /** Answers the errors when the document is malformed, too large or asks for what is not in the schema. Refused ones are not kept. */
  prepare(text: string): PreparedDocument | readonly GraphQLError[] {
    const known = this.#kept.get(text)
    if (known) return known
    const steps = prepareDocument(this.#schema, text)
    let step = steps.next()
    while (!step.done) step = steps.next()
    return this.#keep(text, step.value)
  }

  #keep(text: string, prepared: PreparedDocument | readonly GraphQLError[]): PreparedDocument | readonly GraphQLError[] {
    if ('document' in prepared && this.#wasSeen(text)) this.#kept.set(text, prepared)
    return prepared
  }

  #wasSeen(text: string): boolean {
    const digest = hash('sha256', text, 'base64')
    if (this.#seenOnce.delete(digest)) return true
    this.#seenOnce.set(digest, true)
    return false
  }

  isKnown(text: string): boolean {
    return this.#kept.has(text)
  }

  /** Prepares what is new: a turn for each step of that, and one for what follows. `pay` is told what it costs, in fields of an answer, and may refuse it. */
  async prepareInTurns(text: string, owner: string, pay: (cost: number) => void): Promise<PreparedDocument | readonly GraphQLError[]> {
    // A character takes about as long as a field of an answer: a microsecond.
    pay(text.length)
    const steps = prepareDocument(this.#schema, text)
    for (;;) {
      await turns.take(owner)
      const step = steps.next()
      if (step.done) return turns.take(owner).then(() => this.#keep(text, step.value))
    }
  }
}

/** Validation in parts that take about as long as each other: a document of the most tokens takes some milliseconds for each. */
const rulesInParts = partsOf([...specifiedRules], 3)

function partsOf<Item>(items: readonly Item[], count: number): Item[][] {
  const size = Math.ceil(items.length / count)
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size))
}

/** Between its steps others may be served. */
function* prepareDocument(schema: GraphQLSchema, text: string): Generator<void, PreparedDocument | readonly GraphQLError[]> {
  const tooLong = checkText(text)
  if (tooLong) return [tooLong]
  let document: DocumentNode
  try {
    const tooDeep = checkNesting(text)
    if (tooDeep) return [tooDeep]
    document = parse(text, { maxTokens })
  } catch (error) {
    return [error as GraphQLError]
  }
  const tooMuch = checkCounts(document)
  if (tooMuch) return [tooMuch]
  const errors: GraphQLError[] = []
  for (const rules of rulesInParts) {
    yield
    if (errors.length < maxErrors) errors.push(...validate(schema, document, rules, { maxErrors: maxErrors - errors.length }))
  }
  if (errors.length > 0) return errors
  yield
  const bounds = documentBounds(schema, document)
  if (bounds.breach) return [toGraphqlError(refusalOf(bounds.breach))]
  yield
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
  const fields = rootFieldsOf(document)
  return {
    document,
    introspection: introspectionOf(document),
    operations,
    costOf: prepareCost(schema, document),
    bounds,
    questionVariable: questionVariableOf(operations),
    usesDatabase: !fields.every((name) => fieldsOfOneState.has(name) || isReport(schema, name)),
    report: directReportOf(schema, document, operations),
  }
}

/** Reports are counted by a worker, which tells others what it changed; the loading of states is what others wait for too. */
function isReport(schema: GraphQLSchema, name: string): boolean {
  const field = schema.getMutationType()?.getFields()[name]
  return field !== undefined && reportOf(field) !== undefined
}

function introspectionOf(document: DocumentNode): PreparedDocument['introspection'] {
  const isIntrospection = (name: string) => name === '__schema' || name === '__type'
  const names = rootFieldsOf(document).filter((name) => name !== '__typename')
  if (!names.some(isIntrospection)) return 'none'
  return names.every(isIntrospection) ? 'only' : 'some'
}

/** Of all its operations. */
function rootFieldsOf(document: DocumentNode): string[] {
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
  return [...fields]
}
