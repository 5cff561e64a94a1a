import fc from 'fast-check'
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql'
import { json, written } from './values.js'

export interface Operation {
  query: string
  /** As JSON. */
  variables: string
}

/** What is found in the example catalog, or is right by its form. */
const usual: Readonly<Record<string, readonly unknown[]>> = {
  ID: ['acme', 'team'],
  String: ['acme', 'team', 'seats', 'api-calls', 'extra', 'text', '01900000-0000-7000-8000-000000000001'],
  Boolean: [true, false],
  Int: [0, 1, 2, 50],
  Float: [0, 1, 2.5, 100],
  DateTime: ['2026-11-01T00:00:00.000Z', '2027-02-28T23:59:59.999Z', 1_790_000_000_000],
  ConnectionCursor: ['W10'],
  JSON: [{}, { refId: { eq: 'team' } }, null],
}

/** Whatever is decided on the way, one number each; when they are used up the simplest is chosen, so that a failure shrinks to a simple operation. */
class Choices {
  #at = 0

  constructor(
    readonly numbers: readonly number[],
    readonly values: readonly unknown[],
  ) {}

  below(count: number): number {
    return (this.numbers[this.#at++] ?? 0) % count
  }

  /** Once in so many times. */
  isRare(oneIn: number): boolean {
    return this.below(oneIn) === oneIn - 1
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  some<Item>(items: readonly Item[], most: number): Item[] {
    return items.length === 0 ? [] : Array.from(new Set(Array.from({ length: 1 + this.below(most) }, () => this.of(items))))
  }
}

/** Operations that are valid by the schema, but that some of the values are anything. */
export function operations(
  schema: GraphQLSchema,
  kind: 'query' | 'mutation' | 'subscription',
  isWanted: (field: string) => boolean = () => true,
): fc.Arbitrary<Operation> {
  const roots = { query: schema.getQueryType()!, mutation: schema.getMutationType()!, subscription: schema.getSubscriptionType()! }
  return fc
    .tuple(fc.array(fc.nat({ max: 0xffff }), { minLength: 20, maxLength: 200 }), fc.array(json, { minLength: 1, maxLength: 6 }))
    .map(([numbers, values]) =>
      new Writer(new Choices(numbers, values)).operation(
        kind,
        Object.values(roots[kind].getFields()).filter(({ name }) => isWanted(name)),
      ),
    )
}

class Writer {
  readonly #choices: Choices
  readonly #declared: string[] = []
  readonly #values: Record<string, unknown> = {}
  #aliases = 0

  constructor(choices: Choices) {
    this.#choices = choices
  }

  operation(kind: string, roots: GraphQLField<unknown, unknown>[]): Operation {
    const fields = this.#choices.some(roots, kind === 'subscription' ? 1 : 2)
    const body = fields.map((field) => this.#field(field, 4)).join(' ')
    const declared = this.#declared.length === 0 ? '' : ` Q(${this.#declared.join(', ')})`
    return { query: `${kind}${declared} { ${body} }`, variables: written(this.#values) }
  }

  #field(field: GraphQLField<unknown, unknown>, levels: number): string {
    const args = field.args
      .filter((argument) => isRequiredArgument(argument) || !this.#choices.isRare(3))
      .map(({ name, type }) => `${name}: ${this.#argument(type)}`)
    const alias = this.#choices.isRare(5) ? `a${this.#aliases++}: ` : ''
    const directive = this.#choices.isRare(12)
      ? ` @${this.#choices.of(['include', 'skip'])}(if: ${this.#choices.of(['true', 'false'])})`
      : ''
    const call = args.length === 0 ? '' : `(${args.join(', ')})`
    return `${alias}${field.name}${call}${directive}${this.#selection(getNamedType(field.type), levels)}`
  }

  #selection(type: GraphQLNamedType, levels: number): string {
    if (isLeafType(type)) return ''
    if (isUnionType(type))
      return ` { __typename ${type
        .getTypes()
        .map((member) => `... on ${member.name}${this.#selection(member, 1)}`)
        .join(' ')} }`
    if (!isObjectType(type)) return ' { __typename }'
    const fields = Object.values(type.getFields()).filter(
      (field) => levels > 0 || (isLeafType(getNamedType(field.type)) && field.args.length === 0),
    )
    const chosen = this.#choices.some(fields, 5).map((field) => this.#field(field, levels - 1))
    return this.#choices.isRare(10) ? ` { ... on ${type.name} { __typename ${chosen.join(' ')} } }` : ` { __typename ${chosen.join(' ')} }`
  }

  #argument(type: GraphQLInputType): string {
    const value = this.#value(type, 4)
    if (!this.#choices.isRare(3)) {
      const name = `v${this.#declared.length}`
      this.#declared.push(`$${name}: ${type}`)
      this.#values[name] = value
      return `$${name}`
    }
    return literal(value, type)
  }

  #value(type: GraphQLInputType, levels: number): unknown {
    if (this.#choices.isRare(8)) return this.#choices.of(this.#choices.values)
    if (isNonNullType(type)) return this.#value(type.ofType, levels)
    if (isListType(type)) return Array.from({ length: this.#choices.below(4) }, () => this.#value(type.ofType, levels - 1))
    if (isEnumType(type)) return this.#choices.of(type.getValues()).name
    if (!isInputObjectType(type)) return this.#choices.of(usual[type.name] ?? usual.String!)
    const fields = Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || (levels > 0 && this.#choices.isRare(3)))
    return Object.fromEntries(fields.map((field) => [field.name, this.#value(field.type, levels - 1)]))
  }
}

/** As it stands in a document. */
function literal(value: unknown, type?: GraphQLInputType): string {
  const named = type && getNamedType(type)
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, type)).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = isInputObjectType(named) ? named.getFields() : {}
    const known = Object.entries(value).filter(([name]) => /^\w+$/.test(name))
    return `{${known.map(([name, item]) => `${name}: ${literal(item, Object.hasOwn(fields, name) ? fields[name]!.type : undefined)}`).join(', ')}}`
  }
  return isEnumType(named) && typeof value === 'string' && /^\w+$/.test(value) ? value : written(value)
}
