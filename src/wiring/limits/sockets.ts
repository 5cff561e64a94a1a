import { maxAnswerBytes } from '../../web/graphql/operations/answer-text.js'
import { maxEarlyBytes, maxMessageBytes, maxPointsPerSecond, maxUnreadBytes } from '../../web/live/connection.js'
import { maxIdCharacters } from '../../web/live/message.js'
import type { SocketPlaces } from '../../web/live/socket.js'
import { maxCustomerCost, maxSocketCost, maxSubscriptionCost } from '../../web/live/subscription-costs.js'
import { maxSubscriptions } from '../../web/live/subscriptions.js'
import { maxBytes, maxBytesOfEnvironment } from '../../web/live/unread-bytes.js'
import { bytes, count, type Limit, refused, row } from './row.js'

const live = 'integration/web/live/bounds.test.ts'

/** Of WebSockets and what is listened to. */
export function limitsOfSockets({ sockets, socketsPerAddress, socketsPerKey, socketsPerCustomer }: SocketPlaces): Limit[] {
  return [
    row(
      'WebSockets of a process',
      count(sockets),
      'the oldest without a key makes room, else refused',
      [live, 'take the place of a stranger rather than of who has shown a key'],
      'SOCKETS_MAX',
    ),
    row(
      'WebSockets of an address',
      count(socketsPerAddress),
      'refused',
      [live, 'have so many places for one address'],
      'SOCKETS_PER_ADDRESS',
    ),
    row(
      'WebSockets with a key',
      count(socketsPerKey),
      'closed',
      [live, 'have so many places for one customer, and for one key'],
      'SOCKETS_PER_KEY',
    ),
    row(
      'WebSockets of a customer with a client key',
      count(socketsPerCustomer),
      'closed',
      [live, 'have so many places for one customer, and for one key'],
      'SOCKETS_PER_CUSTOMER',
    ),
    row('what a WebSocket sends before its key', bytes(maxEarlyBytes), 'cut off', [
      live,
      'cut off who sends more than a key before it shows one',
    ]),
    row('points of messages of a WebSocket', `${count(maxPointsPerSecond)} a second`, 'cut off', [
      live,
      'read no more from who floods them, and cut it off',
    ]),
    row('what a WebSocket has not read', bytes(maxUnreadBytes), 'cut off', [live, 'read no more from who floods them, and cut it off']),
    row(
      'what the WebSockets of an environment have not read, and all of a process',
      `${bytes(maxBytesOfEnvironment)}, ${bytes(maxBytes)}`,
      'whoever is behind is cut off',
      ['unit/web/live/bounds.test.ts', 'are too many of one environment before they are too many of all'],
    ),
    row('a message of a WebSocket', bytes(maxMessageBytes), 'closed', [live, 'close a socket whose client says more than a message may']),
    row('id of a subscription', `${count(maxIdCharacters)} characters`, 'closed', [live, 'refuse a subscription whose id is long']),
    row('subscriptions of a WebSocket', count(maxSubscriptions), refused, [live, 'have so many subscriptions on one of them']),
    row('a push', bytes(maxAnswerBytes), 'an error is pushed in its place', [
      live,
      'refuse a push that is larger than an answer may be, and go on with the next',
    ]),
    row('cost of a subscription', count(maxSubscriptionCost), refused, [
      live,
      'refuse a subscription that costs too much, and what is no position in its variables',
    ]),
    row('cost of all subscriptions of a WebSocket', count(maxSocketCost), refused, [live, 'add up what is listened to on one socket']),
    row('cost of all subscriptions of a customer', count(maxCustomerCost), refused, [
      live,
      'add up what a customer listens to on all its sockets, and give it back',
    ]),
  ]
}
