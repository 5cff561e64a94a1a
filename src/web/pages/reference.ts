import {
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  type GraphQLUnionType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql'
import type { GeneratedPage } from './docs.js'

const roots = [
  ['Queries', (schema: GraphQLSchema) => schema.getQueryType()],
  ['Mutations', (schema: GraphQLSchema) => schema.getMutationType()],
  ['Subscriptions', (schema: GraphQLSchema) => schema.getSubscriptionType()],
] as const

/** The schema as a page of the docs: everything that it has, with its descriptions. */
export function referencePage(schema: GraphQLSchema): GeneratedPage {
  const operations = roots.flatMap(([, rootOf]) => Object.keys(rootOf(schema)?.getFields() ?? {}))
  const types = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'))
  return { name: 'reference', title: 'Reference', words: [...operations, ...types].join(' '), write: () => writeReference(schema) }
}

function writeReference(schema: GraphQLSchema): string {
  const rootTypes = new Set<GraphQLNamedType | null | undefined>(roots.map(([, rootOf]) => rootOf(schema)))
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !rootTypes.has(type) && !isSpecifiedScalarType(type),
  )
  const section = (title: string, entries: string[]) => (entries.length === 0 ? [] : [`## ${title}`, ...entries])
  return [
    '# Reference',
    'Every operation, input and type of the [GraphQL API](graphql-api.md), generated from its schema. A `!` after a type says that the value is never null, or must be sent. Error codes are on [their own page](errors.md#codes).',
    ...roots.flatMap(([title, rootOf]) => section(title, Object.values(rootOf(schema)?.getFields() ?? {}).map(writeOperation))),
    ...section(
      'Inputs',
      types.filter(isInputObjectType).map((type) => writeType(type, writeFields(Object.values(type.getFields())))),
    ),
    ...section(
      'Types',
      types.filter(isObjectType).map((type) => writeType(type, writeFields(fieldsOf(type)))),
    ),
    ...section(
      'Unions',
      types.filter(isUnionType).map((type) => writeType(type, writeMembers(type))),
    ),
    ...section(
      'Enums',
      types.filter(isEnumType).map((type) => writeType(type, writeValues(type))),
    ),
    ...section(
      'Scalars',
      types.filter(isScalarType).map((type) => writeType(type, '')),
    ),
  ].join('\n\n')
}

const fieldsOf = (type: GraphQLObjectType) => Object.values<GraphQLField<unknown, unknown>>(type.getFields())

function writeOperation({ name, description, args, type }: GraphQLField<unknown, unknown>): string {
  const parts = [`### ${name}`, description ?? '', `Answers ${link(type)}.`]
  if (args.length > 0) parts.push(writeFields(args))
  return parts.join('\n\n')
}

function writeType({ name, description }: GraphQLNamedType, contents: string): string {
  return [`<h3 id="${anchorOf(name)}">${name}</h3>`, description ?? '', contents].join('\n\n')
}

function writeFields(fields: readonly { name: string; type: GraphQLType; description?: string | null }[]): string {
  const rows = fields.map(({ name, type, description }) => `| \`${name}\` | ${link(type)} | ${inCell(description)} |`)
  return ['| name | type | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function writeValues(type: GraphQLEnumType): string {
  return type
    .getValues()
    .map(({ name }) => `\`${name}\``)
    .join(' · ')
}

function writeMembers(type: GraphQLUnionType): string {
  return type
    .getTypes()
    .map((member) => link(member))
    .join(' · ')
}

/** The whole type, as text that leads to where its name is explained. */
function link(type: GraphQLType): string {
  const named = getNamedType(type)
  return isSpecifiedScalarType(named) ? `\`${type}\`` : `[\`${type}\`](#${anchorOf(named.name)})`
}

/** Types and operations may differ in the case of a letter only. */
const anchorOf = (name: string) => `type-${name}`

const inCell = (text: string | null | undefined) => (text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
