import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql'

/** Whether the document asks for the field that lies at the path below the one that is resolved, under whatever alias. */
export function asksFor({ fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>, path: readonly string[]): boolean {
  const isIn = (set: SelectionSetNode | undefined, [name, ...rest]: readonly string[]): boolean => {
    if (name === undefined) return true
    return (set?.selections ?? []).some((node) => {
      if (node.kind === Kind.FIELD) return node.name.value === name && isIn(node.selectionSet, rest)
      const inner = node.kind === Kind.FRAGMENT_SPREAD ? fragments[node.name.value]?.selectionSet : node.selectionSet
      return isIn(inner, [name, ...rest])
    })
  }
  return fieldNodes.some(({ selectionSet }) => isIn(selectionSet, path))
}
