/**
 * What a document may ask for at most. All of it is counted before anything is validated or executed, so that the price of refusing is bounded: one
 * walk over a document whose tokens the parser has counted.
 *
 * cost   fields that the answer may have: a field counts once for each item of the lists around it, and what lies in a field that is always null
 *        does not count
 */
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  Lexer,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  Source,
  type Token,
  TokenKind,
  valueFromASTUntyped,
  visit,
} from 'graphql'
import { isAlwaysNull } from '../schema/field-meanings.js'

/** Large values belong in variables. */
export const maxCharacters = 256 * 1024
/** To say where an error is, lines are counted from the first one, for each place that it names. */
export const maxLines = 2_000
/** Errors quote names. Those of the schema are shorter, and so are aliases and variables. */
export const maxNameLength = 255
/** Counted by the lexer. The largest documents of known clients have about a third of it. */
export const maxTokens = 5_000
/** Answers nest about 10 levels deep, introspection 14. */
export const maxDepth = 20
/** Brackets of any kind within each other. Functions that read a document call themselves for each; fields, inline fragments and a value of JSON have fewer. */
export const maxNesting = 100
/** Known clients send one operation at a time and hardly use aliases; a batch of 25 operations is the way to send many. */
export const maxAliases = 100
const maxDirectives = 50
/** Validation compares the fragments of a document with each other. */
export const maxFragments = 100
/** In one selection set: validation compares fields of the same name with each other. */
export const maxRepeats = 50
/** A page of 100 subscriptions with plan, prices and customer costs about 60,000; all of the example catalog's paywall, three levels deep, 85,000; of eight plans, add-ons and prices, 370,000. */
export const maxCost = 500_000
/** A larger answer is made in turns. Up to here it takes some milliseconds. */
export const maxCostAtOnce = 2_000
/** An answer about what one customer holds is not paid up to here, though it is made in turns: readers ask for all of their customers when they have just started. */
export const maxFreeStateCost = 10_000

/** Lists that are not asked for by pages are short: entitlements of a plan, add-ons of a subscription. */
export const assumedListItems = 5
const defaultPageSize = 10
const maxPageSize = 100

/** The error, or null when the text is not too long to be read. */
export function checkText(text: string): GraphQLError | null {
  if (text.length > maxCharacters)
    return new GraphQLError(
      `The document has ${text.length} characters, at most ${maxCharacters} are taken: send large values as variables`,
    )
  return text.split(lineEnd, maxLines + 1).length > maxLines ? new GraphQLError(`The document has more than ${maxLines} lines`) : null
}

/** As the specification of GraphQL has it. */
const lineEnd = /\r\n|[\n\r]/

const isOpening = ({ kind }: Token) => kind === TokenKind.BRACE_L || kind === TokenKind.BRACKET_L || kind === TokenKind.PAREN_L
const isClosing = ({ kind }: Token) => kind === TokenKind.BRACE_R || kind === TokenKind.BRACKET_R || kind === TokenKind.PAREN_R

/** The error, or null when the text does not nest too deep to be parsed. @throws GraphQLError for what is no token */
export function checkNesting(text: string): GraphQLError | null {
  const lexer = new Lexer(new Source(text))
  let depth = 0
  // What is beyond the most tokens the parser does not reach.
  for (let count = 0; count <= maxTokens; count++) {
    const token = lexer.advance()
    if (token.kind === TokenKind.EOF) return null
    if (isOpening(token)) depth += 1
    else if (isClosing(token)) depth -= 1
    if (depth > maxNesting) return new GraphQLError(`The document nests deeper than ${maxNesting} brackets`)
  }
  return null
}

/** The error, or null when the document is within all limits but that of its cost. */
export function checkCounts(document: DocumentNode): GraphQLError | null {
  let aliases = 0
  let directives = 0
  let repeated: FieldNode | null = null
  const count = (node: ASTNode & { selectionSet?: SelectionSetNode; directives?: readonly unknown[] }) => {
    directives += node.directives?.length ?? 0
    if (node.kind === Kind.FIELD && node.alias) aliases += 1
    if (!node.selectionSet) return
    const names = new Map<string, number>()
    for (const selection of node.selectionSet.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const times = (names.get(name) ?? 0) + 1
        names.set(name, times)
        if (times > maxRepeats) repeated = selection
      }
      count(selection)
    }
  }
  let fragments = 0
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments += 1
    count(definition as OperationDefinitionNode)
  }
  const refuse = (message: string, nodes?: FieldNode) => new GraphQLError(`The document ${message}`, { nodes })
  if (aliases > maxAliases) return refuse(`has ${aliases} aliases: at most ${maxAliases} are taken`)
  if (directives > maxDirectives) return refuse(`has ${directives} directives: at most ${maxDirectives} are taken`)
  if (fragments > maxFragments) return refuse(`has ${fragments} fragments: at most ${maxFragments} are taken`)
  if (repeated) return refuse(`asks for one field more than ${maxRepeats} times in one place`, repeated)
  const longName = findLongName(document)
  if (longName) return refuse(`has a name of ${longName.value.length} characters: at most ${maxNameLength} are taken`)
  return checkDepth(document)
}

function findLongName(document: DocumentNode): NameNode | null {
  let found: NameNode | null = null
  const look = (node: NameNode) => {
    if (node.value.length <= maxNameLength) return
    found = node
    return BREAK
  }
  visit(document, { Name: look })
  return found
}

/** Nesting with fragments spread out. Each fragment is measured once, so circles and towers of fragments cost no more than their text. */
function checkDepth(document: DocumentNode): GraphQLError | null {
  const fragments = fragmentsOf(document)
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
    const fragment = fragments.get(name)
    if (measured !== undefined || !fragment) return measured ?? 0
    depths.set(name, 0)
    const depth = depthOf(fragment.selectionSet)
    depths.set(name, depth)
    return depth
  }
  const deep = operationsOf(document).find(({ selectionSet }) => depthOf(selectionSet) >= maxDepth)
  return deep ? new GraphQLError(`The document nests deeper than ${maxDepth} levels`, { nodes: deep }) : null
}

/** How many items a list of this type usually has, where that is known; undefined: it is not. */
export type ListSizes = (typeName: string, fieldName: string) => number | undefined

/** What one field costs is known when the variables are: a page has as many items as is asked for. `sizes`: default unknown. */
export interface CostOf {
  (variables: Readonly<Record<string, unknown>>, sizes?: ListSizes): number
  /** The lists of objects that the answer has and that are not asked for by pages, as `Type.field`: their length is assumed where `sizes` says nothing. */
  readonly lists: ReadonlySet<string>
}

const unknownSizes: ListSizes = () => undefined

/** The largest cost of the operations of a valid document. Reads the document once when neither variables nor sizes say how many items there are. */
export function prepareCost(schema: GraphQLSchema, document: DocumentNode): CostOf {
  const fragments = fragmentsOf(document)
  const lists = new Set<string>()
  let readsVariables = false
  const measure = (variables: Readonly<Record<string, unknown>>, sizes: ListSizes): number => {
    const measured = new Map<string, number>()
    /** An item is of one type only: the dearest. `isConnection`: its lists are the page, whose items are counted where it is asked for. */
    const ofItem = (set: SelectionSetNode, type: GraphQLNamedType, isConnection: boolean): number =>
      Math.max(0, ...objectTypes(type).map((object) => ofSelections(set, object, isConnection)))
    const ofSelections = ({ selections }: SelectionSetNode, parent: GraphQLObjectType, isConnection: boolean): number => {
      let cost = 0
      for (const node of selections) {
        if (node.kind === Kind.FIELD) cost += ofField(node, parent, isConnection)
        else if (node.kind === Kind.FRAGMENT_SPREAD) cost += ofFragment(node.name.value, parent, isConnection)
        else if (isFor(node.typeCondition?.name.value, parent)) cost += ofSelections(node.selectionSet, parent, isConnection)
      }
      return cost
    }
    const ofField = (node: FieldNode, parent: GraphQLObjectType, isConnection: boolean): number => {
      const field = parent.getFields()[node.name.value]
      // Introspection is bounded by the schema.
      if (!field || !node.selectionSet || isAlwaysNull(field)) return 1
      const isPaged = field.args.some(({ name }) => name === 'paging')
      if (isPaged && node.arguments?.some(({ value }) => value.kind === Kind.VARIABLE || value.kind === Kind.OBJECT)) readsVariables = true
      return 1 + itemsOf(node, field, { parent, isPaged, isConnection }) * ofItem(node.selectionSet, getNamedType(field.type), isPaged)
    }
    const itemsOf = (
      node: FieldNode,
      field: GraphQLField<unknown, unknown>,
      { parent, isPaged, isConnection }: { parent: GraphQLObjectType; isPaged: boolean; isConnection: boolean },
    ): number => {
      if (isPaged) return pageSizeOf(node, variables)
      if (!isList(field.type) || isConnection) return 1
      if (sizes === unknownSizes) lists.add(`${parent.name}.${field.name}`)
      return sizes(parent.name, field.name) ?? assumedListItems
    }
    const ofFragment = (name: string, parent: GraphQLObjectType, isConnection: boolean): number => {
      const key = `${name} ${parent.name} ${isConnection}`
      const known = measured.get(key)
      if (known !== undefined) return known
      const { typeCondition, selectionSet } = fragments.get(name)!
      const cost = isFor(typeCondition.name.value, parent) ? ofSelections(selectionSet, parent, isConnection) : 0
      measured.set(key, cost)
      return cost
    }
    const objectTypes = (type: GraphQLNamedType): readonly GraphQLObjectType[] =>
      isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : []
    const isFor = (condition: string | undefined, type: GraphQLObjectType): boolean =>
      condition === undefined || objectTypes(schema.getType(condition)!).includes(type)
    return Math.ceil(
      Math.max(...operationsOf(document).map(({ operation, selectionSet }) => ofItem(selectionSet, schema.getRootType(operation)!, false))),
    )
  }
  const cost = measure({}, unknownSizes)
  const costOf = (variables: Readonly<Record<string, unknown>>, sizes?: ListSizes) =>
    sizes || readsVariables ? measure(variables, sizes ?? unknownSizes) : cost
  return Object.assign(costOf, { lists })
}

function pageSizeOf(node: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  const argument = node.arguments?.find(({ name }) => name.value === 'paging')
  const paging = argument && valueFromASTUntyped(argument.value, variables)
  if (typeof paging !== 'object' || paging === null) return defaultPageSize
  const { first, last } = paging as { first?: unknown; last?: unknown }
  const asked = typeof first === 'number' ? first : typeof last === 'number' ? last : defaultPageSize
  // More is refused by the list itself.
  return Math.min(Math.max(asked, 1), maxPageSize)
}

const isList = (type: GraphQLOutputType): boolean => isListType(isNonNullType(type) ? type.ofType : type)

function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  return new Map(document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])))
}

const operationsOf = (document: DocumentNode): OperationDefinitionNode[] =>
  document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
