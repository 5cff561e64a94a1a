/** The GraphQL door without a server, a database or a Redis: what it asks is given by the test. */
import { silentLogger } from '../../src/platform/logger.js'
import { Registry } from '../../src/platform/metrics.js'
import type { Identity } from '../../src/web/access/auth.js'
import { UnreadAnswers } from '../../src/web/access/unread-answers.js'
import { GraphqlDoor, type GraphqlDoorOptions } from '../../src/web/graphql/door/door.js'
import type { GraphqlAnswer, GraphqlRequest } from '../../src/web/graphql/door/request.js'

/** Of a server key of the environment `e`. */
export const serverIdentity = {
  kind: 'SERVER',
  environmentId: 'e',
  environmentRefId: 'e',
  keyId: 'k',
  customerId: null,
} as unknown as Identity

type DoorOptions = Pick<GraphqlDoorOptions, 'app' | 'schema' | 'rateLimits'> & Partial<GraphqlDoorOptions>

/** Holds no state and keeps no answer, unless the options say so. */
export const createGraphqlDoor = (options: DoorOptions) =>
  new GraphqlDoor({
    heldState: () => null,
    timeoutMs: 300_000,
    announce: async () => {},
    log: silentLogger(),
    metrics: new Registry(),
    unread: new UnreadAnswers(new Registry()),
    grow: () => false,
    ...options,
  })

/** Answers what posts a body to such a door, as whoever `given` names. */
export function openGraphqlDoor(options: DoorOptions) {
  const door = createGraphqlDoor(options)
  return (body: unknown, given: Partial<GraphqlRequest> = {}): Promise<GraphqlAnswer> => {
    const bodyText = JSON.stringify(body)
    return door.answer({
      method: 'POST',
      url: '/graphql',
      headers: { 'x-api-key': 'key', 'content-type': 'application/json' },
      address: '::1',
      body: JSON.parse(bodyText),
      bodyText,
      onHangUp: () => {},
      ...given,
    })
  }
}
