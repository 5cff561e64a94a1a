// `npm run sdk-types`: writes the types of the server SDK's operations, from its documents and the schema of the front door.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql'
import { documents, type OperationName } from '../../src/sdk/server/operations/documents.js'
import { createSchema } from '../../src/web/graphql/schema.js'

export const typesFolder = 'src/sdk/server/operations/types'

/** Which file has what is first needed by which operations: each uses its own and those before it. */
const files: Readonly<Record<string, readonly OperationName[]>> = {
  estimates: ['estimateSubscription', 'estimateSubscriptionUpdate'],
  paywall: ['getPaywall'],
  subscriptions: [
    'provisionSubscription',
    'updateSubscription',
    'cancelSubscription',
    'migrateSubscriptionToLatest',
    'getSubscription',
    'getActiveSubscriptions',
  ],
  coupons: ['getCoupons'],
  customers: [
    'provisionCustomer',
    'updateCustomer',
    'getCustomer',
    'archiveCustomer',
    'unarchiveCustomer',
    'grantPromotionalEntitlements',
    'revokePromotionalEntitlement',
  ],
}

const scalars: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  Float: 'number',
  Int: 'number',
  String: 'string',
  ID: 'string',
  JSON: 'Json',
  ConnectionCursor: 'string',
}
const heading = '// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.\n'

interface Declared {
  file: string
  text: string
  uses: Set<string>
}

/** File name to text, not formatted. */
export function sdkTypes(schema: GraphQLSchema): Map<string, string> {
  const declared = new Map<string, Declared>([
    ['Json', { file: 'enums', uses: new Set(), text: 'export type Json = Record<string, unknown>' }],
    ['DateTime', { file: 'enums', uses: new Set(), text: '/** ISO 8601. */\nexport type DateTime = string' }],
  ])

  for (const [file, operations] of Object.entries(files)) {
    for (const name of operations) declareOperation(file, name)
  }

  function declareOperation(file: string, name: OperationName): void {
    const { definitions } = parse(documents[name])
    const operation = definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION)!
    const fragments = new Map(
      definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [])),
    )
    const variables = operation.variableDefinitions!.map(({ variable, type }) => ({
      name: variable.name.value,
      type: typeFromAST(schema, type as never) as GraphQLInputType,
    }))
    for (const { type } of variables) declareInput(file, getNamedType(type))
    const root = operation.operation === 'query' ? schema.getQueryType()! : schema.getMutationType()!
    const uses = new Set<string>()
    const [field] = operation.selectionSet.selections
    if (field?.kind !== Kind.FIELD) throw new Error(`${name} selects no field`)
    const answer = output(root.getFields()[field.name.value]!.type, field.selectionSet, { file, fragments, uses })
    const upper = `${name[0]!.toUpperCase()}${name.slice(1)}`
    declared.set(`${upper}Answer`, { file, uses, text: `export type ${upper}Answer = ${answer}` })
    if (variables.length > 1) {
      const ofVariables = new Set<string>()
      const fields = variables.map((variable) => inputField(variable, ofVariables))
      declared.set(`${upper}Variables`, { file, uses: ofVariables, text: `export interface ${upper}Variables {\n${fields.join('\n')}\n}` })
    }
  }

  function declareInput(file: string, type: GraphQLNamedInputType): void {
    if (declared.has(type.name) || scalars[type.name] !== undefined) return
    if (isEnumType(type)) {
      const values = type.getValues().map(({ name }) => `'${name}'`)
      declared.set(type.name, { file: 'enums', uses: new Set(), text: `export type ${type.name} = ${values.join(' | ')}` })
    } else if (isInputObjectType(type)) {
      const uses = new Set<string>()
      declared.set(type.name, { file, uses, text: '' })
      const fields = Object.values(type.getFields())
      for (const field of fields) declareInput(file, getNamedType(field.type))
      declared.get(type.name)!.text = `export interface ${type.name} {\n${fields.map((field) => inputField(field, uses)).join('\n')}\n}`
    } else if (type.name !== 'DateTime') throw new Error(`no type for the scalar ${type.name}`)
  }

  function inputField({ name, type }: { name: string; type: GraphQLInputType }, uses: Set<string>): string {
    return isNonNullType(type) ? `${name}: ${input(type, uses)}` : `${name}?: ${input(type, uses)} | null`
  }

  function input(type: GraphQLInputType, uses: Set<string>): string {
    if (isNonNullType(type)) return input(type.ofType, uses)
    if (isListType(type)) return `readonly ${listed(input(type.ofType, uses))}[]`
    if (type.name === 'DateTime') return 'string | Date'
    return named(type.name, uses)
  }

  function named(name: string, uses: Set<string>): string {
    const scalar = scalars[name] ?? name
    if (declared.has(scalar)) uses.add(scalar)
    return scalar
  }

  interface Scope {
    file: string
    fragments: ReadonlyMap<string, FragmentDefinitionNode>
    uses: Set<string>
  }

  function output(type: GraphQLOutputType, selected: SelectionSetNode | undefined, scope: Scope): string {
    if (isNonNullType(type)) return present(type.ofType, selected, scope)
    const given = present(type, selected, scope)
    return given.includes(' & {') && !given.endsWith(']') ? `(${given}) | null` : `${given} | null`
  }

  function present(type: GraphQLOutputType, selected: SelectionSetNode | undefined, scope: Scope): string {
    if (isNonNullType(type)) return present(type.ofType, selected, scope)
    if (isListType(type)) {
      return `${listed(output(type.ofType, selected, scope))}[]`
    }
    if (selected && isObjectType(type)) return object(type, selected, scope)
    if (isEnumType(type)) declareInput(scope.file, type)
    return named(getNamedType(type).name, scope.uses)
  }

  function object(type: ReturnType<typeof objectOf>, { selections }: SelectionSetNode, scope: Scope): string {
    const parts = selections.flatMap((selection) =>
      selection.kind === Kind.FRAGMENT_SPREAD ? [fragment(selection.name.value, scope)] : [],
    )
    const fields = selections.flatMap((selection) =>
      selection.kind === Kind.FIELD
        ? [`${selection.name.value}: ${output(type.getFields()[selection.name.value]!.type, selection.selectionSet, scope)}`]
        : [],
    )
    return [...parts, ...(fields.length > 0 ? [`{\n${fields.join('\n')}\n}`] : [])].join(' & ')
  }

  function fragment(name: string, scope: Scope): string {
    scope.uses.add(name)
    if (!declared.has(name)) {
      const { typeCondition, selectionSet } = scope.fragments.get(name)!
      const uses = new Set<string>()
      declared.set(name, { file: scope.file, uses, text: '' })
      const type = objectOf(schema, typeCondition.name.value)
      declared.get(name)!.text = `export interface ${name} ${object(type, selectionSet, { ...scope, uses })}`
    }
    return name
  }

  const names = new Map<string, string[]>([['enums', []], ...Object.keys(files).map((file): [string, string[]] => [file, []])])
  for (const [name, { file }] of declared) names.get(file)!.push(name)
  return new Map(
    [...names].map(([file, own]) => {
      const used = [...new Set(own.flatMap((name) => [...declared.get(name)!.uses]))].sort()
      const lines = [...names.keys()].sort().flatMap((from) => {
        const ofFile = used.filter((name) => from !== file && declared.get(name)!.file === from)
        return ofFile.length === 0 ? [] : [`import type { ${ofFile.join(', ')} } from './${from}.js'`]
      })
      return [`${file}.ts`, [heading, ...lines, '', ...own.map((name) => `${declared.get(name)!.text}\n`)].join('\n')]
    }),
  )
}

/** Of one word or one object; anything else takes parentheses. */
const listed = (item: string): string => (/^(\w+|\{.*\})$/s.test(item) ? item : `(${item})`)

function objectOf(schema: GraphQLSchema, name: string) {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`${name} is no object`)
  return type
}

/** What of a text is left when it is formatted otherwise. */
export const unformatted = (text: string): string =>
  text
    .replace(/[\s;]/g, '')
    .replace(/([=:(])\|/g, '$1')
    .replace(/,}/g, '}')

if (process.argv[1]?.endsWith('/sdk-types.js')) {
  mkdirSync(typesFolder, { recursive: true })
  for (const [file, text] of sdkTypes(createSchema())) writeFileSync(join(typesFolder, file), text)
}
