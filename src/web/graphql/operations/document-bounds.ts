import {
  type DocumentNode,
  type FragmentDefinitionNode,
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

/** Uses of variables for more than single values, inside of literals. One would be multiplied by each. */
const maxNestedUses = 50

/** The bounds of what a document takes. */
export interface DocumentBounds {
  /** What is wrong with what is written in it; null: nothing. */
  breach: Breach | null
  /** Holds the variables of an operation of it against the bounds. @throws Problem BAD_USER_INPUT */
  check(operation: OperationDefinitionNode | undefined, variables: Variables | null | undefined): void
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
        if (!field?.args.includes(argument!)) return
        const place = checkedPlace(`${types.getParentType()!.name}.${field.name}.${name.value}`, name.value, argument!.type)
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
  const ofOperation = new Map<OperationDefinitionNode, Use[]>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const uses = reachable(definition, spreadsOf).flatMap((key) => usesOf.get(key)!)
    ofOperation.set(definition, uses)
    breach ??= defaultBreach(definition, uses)
  }
  return {
    breach,
    check(operation, variables) {
      const uses = operation && ofOperation.get(operation)
      if (!uses || !variables) return
      const allowance = new Allowance(operation.operation)
      for (const { path, place, value } of uses) {
        const given = value.kind === Kind.VARIABLE ? variables[value.name.value] : valueFromASTUntyped(value, variables)
        const found = place.check(given, allowance)
        if (found) throw refusalOf({ path: path + found.path, fault: found.fault })
      }
    },
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

/** A default stands wherever its variable does. */
function defaultBreach({ variableDefinitions = [] }: OperationDefinitionNode, uses: readonly Use[]): Breach | null {
  const defaults = new Map(
    variableDefinitions.flatMap(({ variable, defaultValue }) => (defaultValue ? [[variable.name.value, defaultValue]] : [])),
  )
  for (const { path, place, value } of uses) {
    const literal = value.kind === Kind.VARIABLE ? defaults.get(value.name.value) : undefined
    const found = literal && place.check(valueFromASTUntyped(literal), new Allowance())
    if (found) return { path: path + found.path, fault: found.fault }
  }
  return null
}
