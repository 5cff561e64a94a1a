/**
 * The plans and add-ons of a document (`plan basic`, `addon more`) whose publication is for existing subscriptions too. An instruction of the
 * document and not a part of what is sold, so the catalog that it is read into does not hold it. The document has been checked.
 */
export function publishedForAll(input: unknown): ReadonlySet<string> {
  const document = input as Partial<Record<'plans' | 'addons', Published[] | null>> | null
  const named = (kind: 'plan' | 'addon', packages: Published[] | null | undefined) =>
    (packages ?? []).filter(({ publish }) => publish === 'ALL_CUSTOMERS').map(({ refId }) => `${kind} ${refId}`)
  return new Set([...named('plan', document?.plans), ...named('addon', document?.addons)])
}

interface Published {
  refId: string
  publish?: string | null
}
