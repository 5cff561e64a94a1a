import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { Allowance, type Breach, type Checked, checkedPlace, refusalOf } from './input-bounds.js'

type Variables = Readonly<Record<string, unknown>>

/** Where a definition of the document uses a variable, or has JSON with variables in it. */
interface Use {
  path: string
  place: Checked
  /** The variable, or the JSON. */
  value: ValueNode
}

/** A variable in a place of one kind, which it is held against once, however often the operation has it there; or JSON with variables. */
interface DistinctUse extends Use {
  times: number
}

/** What an operation takes. */
interface Uses {
  distinct: DistinctUse[]
  /** Its variables with their defaults; undefined: none. */
  defaults: (readonly [variable: string, value: unknown])[]
}

/** Uses of variables for more than single values, inside of literals. One would be multiplied by each. */
const maxNestedUses = 50

/** Of the schema: the same for all documents. */
const ofArguments = new WeakMap<GraphQLArgument, Checked>()

/** The bounds of what a document takes. */
export interface DocumentBounds {
  /** What is wrong with what is written in it; null: nothing. */
  breach: Breach | null
  /**
   * Holds the variables of an operation of it against the bounds. Answers what they cost in all places where they are used, in fields of an answer.
   * @throws Problem BAD_USER_INPUT
   */
  check(operation: OperationDefinitionNode | undefined, variables: Variables | null | undefined): number
}

/** Of a valid document: found out once, so that a request is only compared. */
export function documentBounds(schema: GraphQLSchema, document: DocumentNode): DocumentBounds {
  const usesOf = new Map<OperationDefinitionNode | string, Use[]>()
  const spreadsOf = new Map<OperationDefinitionNode | string, string[]>()
  let current: OperationDefinitionNode | string = ''
  let breach: Breach | null = null
  let nestedUses = 0
  const enter = (definition: OperationDefinitionNode | FragmentDefinitionNode) => {
    current = definition.kind === Kind.FRAGMENT_DEFINITION ? definition.name.value : definition
    usesOf.set(current, [])
    spreadsOf.set(current, [])
  }
  const types = new TypeInfo(schema)
  const allowance = new Allowance()
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.OPERATION_DEFINITION]: enter,
      [Kind.FRAGMENT_DEFINITION]: enter,
      [Kind.FRAGMENT_SPREAD]: ({ name }) => void spreadsOf.get(current)!.push(name.value),
      [Kind.ARGUMENT]: ({ name, value }) => {
        const field = types.getFieldDef()
        const argument = types.getArgument()
        // Those of directives are of no size.
        if (!argument || !field?.args.includes(argument)) return
        const place =
          ofArguments.get(argument) ?? checkedPlace(`${types.getParentType()!.name}.${field.name}.${name.value}`, name.value, argument.type)
        ofArguments.set(argument, place)
        const found = value.kind === Kind.VARIABLE ? null : place.check(valueFromASTUntyped(value), allowance)
        if (found) breach ??= { path: name.value + found.path, fault: found.fault }
        for (const use of usesIn(value, place, name.value)) {
          const isNested = use.value !== value && (use.place.field || use.place.item || use.place.isJson)
          if (isNested && ++nestedUses > maxNestedUses)
            breach ??= {
              path: use.path,
              fault: `is one of more than ${maxNestedUses} variables inside of lists and objects: send the whole as one variable`,
            }
          usesOf.get(current)!.push(use)
        }
        return false
      },
    }),
  )
  const ofOperation = new Map<OperationDefinitionNode, Uses>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const uses = reachable(definition, spreadsOf).flatMap((key) => usesOf.get(key)!)
    ofOperation.set(definition, { distinct: distinctUses(uses), defaults: defaultsOf(definition) })
  }
  return { breach, check: checkOf(ofOperation) }
}

/** By itself, as it is kept with the document: what it is made with is not. */
function checkOf(ofOperation: ReadonlyMap<OperationDefinitionNode, Uses>): DocumentBounds['check'] {
  return (operation, variables) => {
    const uses = operation && ofOperation.get(operation)
    if (!uses) return 0
    let given: Variables | undefined
    const givenOf = (node: ValueNode) => {
      // Nearly all: then nothing has to be put together.
      if (node.kind === Kind.VARIABLE && variables && Object.hasOwn(variables, node.name.value)) return variables[node.name.value]
      given ??= withDefaults(variables ?? {}, uses.defaults)
      return valueFromASTUntyped(node, given)
    }
    const allowance = new Allowance(operation.operation)
    for (const { path, place, value, times } of uses.distinct) {
      allowance.uses = times
      const found = place.check(givenOf(value), allowance)
      if (found) throw refusalOf({ path: path + found.path, fault: found.fault })
    }
    return allowance.cost
  }
}

/** The variables in a literal, each with the bounds of the place where it stands. */
function usesIn(value: ValueNode, place: Checked, path: string): Use[] {
  if (value.kind === Kind.VARIABLE) return [{ path, place, value }]
  if (place.isJson) return hasVariables(value) ? [{ path, place, value }] : []
  if (value.kind === Kind.LIST) return value.values.flatMap((item, index) => usesIn(item, place.item ?? place, `${path}[${index}]`))
  if (value.kind !== Kind.OBJECT) return []
  const object = place.field ? place : place.item
  return value.fields.flatMap(({ name, value: inner }) => {
    const field = object?.field?.(name.value)
    return field ? usesIn(inner, field, `${path}.${name.value}`) : []
  })
}

function hasVariables(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariables)
  return value.kind === Kind.OBJECT ? value.fields.some((field) => hasVariables(field.value)) : value.kind === Kind.VARIABLE
}

/** The operation and the fragments that it spreads, at whatever distance. */
function reachable(operation: OperationDefinitionNode, spreadsOf: ReadonlyMap<OperationDefinitionNode | string, string[]>) {
  const found = new Set<OperationDefinitionNode | string>([operation])
  // A set hands out what is added meanwhile, too.
  for (const key of found) for (const name of spreadsOf.get(key) ?? []) found.add(name)
  return [...found]
}

/** In the order of the document. */
function distinctUses(uses: readonly Use[]): DistinctUse[] {
  const distinct: DistinctUse[] = []
  const ofPlaces = new Map<Checked, Map<string, DistinctUse>>()
  for (const use of uses) {
    const name = use.value.kind === Kind.VARIABLE ? use.value.name.value : null
    const inPlace = ofPlaces.get(use.place) ?? new Map<string, DistinctUse>()
    ofPlaces.set(use.place, inPlace)
    const known = name === null ? undefined : inPlace.get(name)
    if (known) {
      known.times += 1
      continue
    }
    const first = { ...use, times: 1 }
    distinct.push(first)
    if (name !== null) inPlace.set(name, first)
  }
  return distinct
}

const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Uses['defaults'] =>
  variableDefinitions.map(({ variable, defaultValue }) => [variable.name.value, defaultValue && valueFromASTUntyped(defaultValue)])

/** A default stands wherever a variable does that is not sent. */
function withDefaults(variables: Variables, defaults: Uses['defaults']): Variables {
  // Without a prototype, since a variable may be called as a property of one.
  const given: Record<string, unknown> = Object.create(null)
  for (const [name, value] of defaults) given[name] = Object.hasOwn(variables, name) ? variables[name] : value
  return given
}
