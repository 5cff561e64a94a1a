import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql'

/**
 * A document for one root field that asks for everything its answer has, so many levels deep, and takes each of its arguments as a variable of the
 * same name.
 */
export function operationDocument(root: GraphQLObjectType, name: string, levels = 3): string {
  const field = root.getFields()[name]!
  const kind = root.name.toLowerCase()
  const variables = field.args.map((argument) => `$${argument.name}: ${argument.type}`).join(', ')
  const args = field.args.map((argument) => `${argument.name}: $${argument.name}`).join(', ')
  const call = `${name}${args && `(${args})`} ${selection(getNamedType(field.type), levels)}`
  return `${kind} ${variables && `(${variables})`} { ${call} }`
}

function selection(type: GraphQLNamedType, levels: number): string {
  if (isLeafType(type)) return ''
  if (isUnionType(type)) {
    const members = type.getTypes()
    // Fields of one name and two types cannot be asked for side by side.
    const isAgreed = (field: GraphQLField<unknown, unknown>) =>
      members.every((member) => String((member.getFields()[field.name] ?? field).type) === String(field.type))
    const parts = members.map((member) => `... on ${member.name} ${fields(member, levels, isAgreed)}`)
    return `{ __typename ${parts.join(' ')} }`
  }
  return isObjectType(type) || isInterfaceType(type) ? fields(type as GraphQLObjectType, levels, () => true) : ''
}

function fields(type: GraphQLObjectType, levels: number, isWanted: (field: GraphQLField<unknown, unknown>) => boolean): string {
  const parts = Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some(isRequiredArgument) || !isWanted(field)) return []
    const isLeaf = isLeafType(getNamedType(field.type))
    if (!isLeaf && levels <= 1) return []
    return [`${field.name} ${selection(getNamedType(field.type), levels - 1)}`]
  })
  return `{ __typename ${parts.join(' ')} }`
}
