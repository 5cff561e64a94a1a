/**
 * A question that only a server key may ask, and that costs next to nothing: whether it is answered tells whether the API takes the key. With an environment
 * it is refused, too, when the key belongs to another one.
 */
export function keyQuestion(environmentId: string | null): { query: string } {
  const input = `{ customerId: "key-check", environmentId: ${JSON.stringify(environmentId)} }`
  const ofEnvironment = environmentId === null ? '' : ` entitlementsState(query: ${input}) { accessDeniedReason }`
  return { query: `query KeyCheck { testClock { frozenTime }${ofEnvironment} }` }
}
