/** The limits of the platform, as its docs show them: made of what is in force, and each with the test that goes beyond it. */
import {
  maxCatalogInForce,
  maxDefinitionDepth,
  maxEntitlements,
  maxMetaDataBytes,
  maxPrices,
  maxTextCharacters,
} from '../catalog/document/text-limits.js'
import { lookupsPerSecond } from '../environment/key-lookups.js'
import { maxIdentifierLength } from '../kernel/id.js'
import { defaultMaxWaitingJobs } from '../metering/intake/config.js'
import { maxDimensionBytesPerCall, maxItemsPerCall } from '../metering/model/report.js'
import { headLimits, maxHealthConnections } from '../platform/health.js'
import {
  arrivalTimeoutMs,
  largestRequestBytes,
  mostArrivingBytes,
  mostArrivingBytesOfConnection,
  mostConnections,
} from '../sidecar/grpc/arrivals.js'
import { freshReadsAtATime } from '../updates/held/fresh-reads.js'
import { maxWaitingCalls } from '../web/access/admission.js'
import {
  bytesPerPoint,
  costPerAddress,
  costPerCustomer,
  costPerKey,
  type RateLimitOptions,
  strongReadCost,
} from '../web/access/rate-limits.js'
import { maxBytesOfOwner as maxUnreadOfOwner } from '../web/access/unread-answers.js'
import { maxBatch } from '../web/graphql/door/door.js'
import { largeAnswersAtATime } from '../web/graphql/door/execution.js'
import {
  maxAliases,
  maxCharacters,
  maxCost,
  maxDepth,
  maxFragments,
  maxNesting,
  maxRepeats,
  maxTokens,
} from '../web/graphql/door/limits.js'
import { maxAnswerBytes } from '../web/graphql/operations/answer-text.js'
import { maxJsonDepth as maxDepthOfField, maxJsonBytes, maxListItems, maxObjects } from '../web/graphql/schema/bounds.js'
import { bodyTimeoutMs, maxBodyBytes, maxHeldBytes, maxHeldBytesPerCustomer, maxHeldBytesPerKey } from '../web/http/body.js'
import { type ConnectionLimits, writeTimeoutMs } from '../web/http/connections.js'
import { maxJsonDepth, maxJsonTextBytes, maxJsonValues } from '../web/http/json-shape.js'
import { maxEarlyBytes, maxMessageBytes, maxPointsPerSecond, maxUnreadBytes } from '../web/live/connection.js'
import { maxIdCharacters } from '../web/live/message.js'
import type { SocketPlaces } from '../web/live/socket.js'
import { maxCustomerCost, maxSocketCost, maxSubscriptionCost } from '../web/live/subscription-costs.js'
import { maxSubscriptions } from '../web/live/subscriptions.js'
import { maxBytes, maxBytesOfEnvironment } from '../web/live/unread-bytes.js'

export interface Limit {
  what: string
  value: string
  /** What sets it; null: nothing does. */
  variable: string | null
  /** What happens to who asks for more. */
  beyond: string
  /** The file under test/ and the title of what shows it. */
  test: readonly [file: string, title: string]
}

const refused = 'refused (`BadUserInput`) before anything is done'
const slowedDown = 'refused (`RateLimitExceeded`) with the time to wait'

const door = 'unit/web/graphql/door'
const http = 'integration/web/http/http.test.ts'
const defence = 'integration/web/http/defence.test.ts'
const health = 'integration/platform/health.test.ts'
const live = 'integration/web/live/bounds.test.ts'
const arrivals = 'contract/grpc/arrivals.test.ts'
const operations = 'unit/web/graphql/operations'
const freshness = 'integration/web/graphql/entitlement/freshness.test.ts'
const doorLimits = 'integration/web/graphql/door/limits.test.ts'

/** A place for each limit: those of one kind stand together. */
export function limitsOf(limits: RateLimitOptions & ConnectionLimits & SocketPlaces & { operationTimeoutMs: number }): Limit[] {
  const { operationTimeoutMs, perKey, perCustomer, perAddress, sockets, socketsPerAddress, socketsPerKey, socketsPerCustomer } = limits
  const row = (what: string, value: string, beyond: string, test: Limit['test'], variable: string | null = null): Limit => ({
    what,
    value,
    variable,
    beyond,
    test,
  })
  return [
    row(
      'connections of a process',
      count(limits.connections),
      '503',
      [defence, 'are so many of one address, and so many in all'],
      'CONNECTIONS_MAX',
    ),
    row(
      'connections of an address',
      count(limits.connectionsPerAddress),
      '503',
      [defence, 'are so many of one address, and so many in all'],
      'CONNECTIONS_PER_ADDRESS',
    ),
    row('connections of a port of health and metrics', count(maxHealthConnections), 'the oldest makes room', [
      health,
      'has so many places, and whoever holds all of them keeps no probe out',
    ]),
    row(
      'time for a request to arrive',
      `${count(headLimits.headersTimeout)} ms for its head, ${count(headLimits.requestTimeout)} ms for all of it`,
      'cut off',
      [health, 'cuts off who never finishes a head, or a body'],
    ),
    row(
      'look-ups of keys that are not known',
      `${count(lookupsPerSecond.address)} a second of an address, ${count(lookupsPerSecond.all)} of all`,
      slowedDown,
      [defence, 'looks so many that are made up up for one address, and those of others meanwhile'],
    ),
    row('time for a body to arrive', `${count(bodyTimeoutMs)} ms`, '408', [defence, 'gives up what arrives too slowly, and says so']),
    row(
      'bodies that are arriving or being answered',
      `${bytes(maxHeldBytesPerCustomer)} of a customer with a client key, ${bytes(maxHeldBytesPerKey)} of a key, of an environment half of what the others leave of ${bytes(maxHeldBytes)}`,
      '429, 503',
      [defence, 'holds no more of one key than its share, and lets others send meanwhile'],
    ),
    row('depth, values, bytes of a text of a body', `${count(maxJsonDepth)}, ${count(maxJsonValues)}, ${count(maxJsonTextBytes)}`, '413', [
      defence,
      'refuses what would take long to parse, before it is parsed',
    ]),
    row(
      'fields of large answers',
      `${count(costPerKey)} a second of a key, ${count(costPerCustomer)} of a customer with a client key, ${count(costPerAddress)} of an address`,
      slowedDown,
      [defence, 'lets a customer have so many large answers a second'],
    ),
    row('fields of large pages of the edge', 'as those of large answers, and with their places', slowedDown, [
      'unit/web/edge/pages.test.ts',
      'is refused to who has had too many large ones, who is given small ones',
    ]),
    row(
      'strong checks, when their states have to be built',
      `${strongReads(costPerKey)} a second of a key, ${strongReads(costPerCustomer)} of a customer with a client key, ${strongReads(costPerAddress)} of an address`,
      slowedDown,
      [freshness, 'may be strong so many times a second for a customer with a client key, and cached ones are answered meanwhile'],
    ),
    row(
      'strong checks that are read at a time',
      `${count(freshReadsAtATime.ofOwner)} of an environment, ${count(freshReadsAtATime.inAll)} of all`,
      'wait for their turn',
      ['unit/updates/held/fresh-reads.test.ts', 'are few at a time of an environment, and in all; who waits for the same waits for one'],
    ),
    row('pages of an address that nobody reads', bytes(maxUnreadOfOwner), '503 for large ones', [
      defence,
      'leaves only so many bytes of an address unread, and gives others theirs',
    ]),
    row('bytes of pages and of answers that were made before', `as ${count(bytesPerPoint)} for a field of large answers`, slowedDown, [
      defence,
      'counts the bytes that an address is given, and none that it has',
    ]),
    row('an answer that nobody reads', `${count(writeTimeoutMs)} ms`, 'cut off', [defence, 'are cut off when nobody reads the answer']),
    row('calls of an environment that wait while there is no processor for them', count(maxWaitingCalls), slowedDown, [
      'unit/web/access/admission.test.ts',
      'refuses who waits for too long, and who comes when too many wait',
    ]),
    row('body of a request', bytes(maxBodyBytes), '413; the rest is not read', [http, 'refuses a body over the size limit that says so']),
    row('operations of a list', count(maxBatch), refused, [http, 'refuses 26, and none']),
    row(
      'requests with a key, by process',
      `${count(perKey)} a second`,
      slowedDown,
      [doorLimits, 'are counted for a key, each operation of a list'],
      'RATE_LIMIT_PER_KEY',
    ),
    row(
      'requests of an address, by process',
      `${count(perAddress)} a second`,
      slowedDown,
      [doorLimits, 'are counted for an address, whatever the keys'],
      'RATE_LIMIT_PER_ADDRESS',
    ),
    row(
      'requests of a customer with a client key, by process',
      `${count(perCustomer)} a second`,
      slowedDown,
      [doorLimits, 'are counted for a customer with its token'],
      'RATE_LIMIT_PER_CUSTOMER',
    ),
    row('tokens of a document', count(maxTokens), refused, [
      `${door}/documents.test.ts`,
      'cost little to refuse when one field is repeated as often as tokens allow',
    ]),
    row('characters of a document, of one of its names', `${count(maxCharacters)}, ${count(maxIdentifierLength)}`, refused, [
      `${door}/documents.test.ts`,
      'have a bounded length, in characters, lines and names, which errors would quote',
    ]),
    row('depth of a document', count(maxDepth), refused, [`${door}/documents.test.ts`, 'have a bounded depth']),
    row('brackets of a document within each other', count(maxNesting), refused, [
      `${door}/documents.test.ts`,
      'nest as deep as somebody needs, and are refused before they are read where it is more, however they nest',
    ]),
    row('aliases of a document', count(maxAliases), refused, [`${door}/limits.test.ts`, 'are refused one above the limit']),
    row('fragments of a document', count(maxFragments), refused, [`${door}/limits.test.ts`, 'are refused one above the limit']),
    row('one field in a selection', `${count(maxRepeats)} times`, refused, [`${door}/limits.test.ts`, 'are refused one above the limit']),
    row('fields that an answer may have', count(maxCost), refused, [
      `${door}/limits.test.ts`,
      'grows with each list inside a list, beyond what is answered',
    ]),
    row('an answer', bytes(maxAnswerBytes), refused.replace(' before anything is done', '; what a mutation changed stays changed'), [
      'integration/web/graphql/door/answer-room.test.ts',
      'is refused beyond, with what to do',
    ]),
    row('an identifier', `${count(maxIdentifierLength)} characters`, refused, [
      `${operations}/document-bounds.test.ts`,
      'count the characters of identifiers, and take none for control',
    ]),
    row('metadata and other JSON of a field', `${bytes(maxJsonBytes)}, ${count(maxDepthOfField)} levels`, refused, [
      `${operations}/document-bounds.test.ts`,
      'hold of every JSON, in bytes, depth and what stands in it',
    ]),
    row('items of a list among variables', count(maxListItems), refused, [doorLimits, 'bound the lists of variables']),
    row(
      'objects among variables, usage aside',
      `${count(maxObjects.query)} of a query, ${count(maxObjects.mutation)} of a mutation`,
      refused,
      [`${operations}/document-bounds.test.ts`, 'hold of how many objects graphql-js is to make something of, wherever they are'],
    ),
    row(
      'large answers that are made at a time',
      `${count(largeAnswersAtATime.ofOwner)} of an environment, ${count(largeAnswersAtATime.inAll)} of all`,
      'wait for their turn',
      ['unit/environment/fair-places.test.ts', 'are taken at once as long as there are some, in all and of the environment'],
    ),
    row(
      'time of an operation',
      `${count(operationTimeoutMs)} ms`,
      'ended, its SQL too',
      [doorLimits, 'end a query, and its SQL too'],
      'OPERATION_TIMEOUT_MS',
    ),
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
    row('connections of a sidecar, for gRPC', count(mostConnections), 'closed', [arrivals, 'come over so many connections, and no more']),
    row('request of a sidecar', bytes(largestRequestBytes), '`RESOURCE_EXHAUSTED`', [
      'contract/grpc/bounds.test.ts',
      'refuse a request that is too large',
    ]),
    row(
      'gRPC requests that are arriving',
      `${bytes(mostArrivingBytesOfConnection)} of a connection, ${bytes(mostArrivingBytes)} of all`,
      'ended: `RESOURCE_EXHAUSTED`',
      [arrivals, 'take no more memory than the share of their connection, and nothing from others'],
    ),
    row('time for a gRPC request to arrive', `${count(arrivalTimeoutMs)} ms`, 'ended: `CANCELLED`', [
      arrivals,
      'are ended after a while, but for what is a conversation',
    ]),
    row('entitlements of a plan or add-on, and prices', `${count(maxEntitlements)} and ${count(maxPrices)}`, refused, [
      'unit/catalog/document/parse.refused.test.ts',
      'for more entitlements, or prices, than a plan may have, unless it has as many',
    ]),
    row(
      'name, description, metadata of a definition in a catalog',
      `${count(maxTextCharacters.displayName!)} and ${count(maxTextCharacters.description!)} characters, ${bytes(maxMetaDataBytes)} as JSON`,
      refused,
      ['unit/catalog/document/long-texts.test.ts', 'are refused where they are longer than the API takes them, each with its path'],
    ),
    row('base plans of a plan, add-ons that need each other', `${count(maxDefinitionDepth)} deep`, refused, [
      'unit/catalog/document/inheritance-checks.test.ts',
      'has a bound for base plans, and for add-ons that need each other',
    ]),
    row('features of a plan with those that it inherits', count(maxEntitlements), refused, [
      'unit/catalog/document/inheritance-checks.test.ts',
      'have a bound together with those that it inherits, each counted once',
    ]),
    row('a catalog in force', `about ${count(maxCatalogInForce)} characters as JSON`, refused, [
      'unit/catalog/planner.test.ts',
      'refuses what makes a catalog longer than it may be, and lets it become shorter',
    ]),
    row('usage or events of one call', count(maxItemsPerCall), refused, [
      'unit/metering/wire/checked-job.test.ts',
      'is refused when no door could have sent it, whatever it is',
    ]),
    row('dimensions of the reports of one call', bytes(maxDimensionBytesPerCall), refused, [
      'unit/metering/intake/large-calls.test.ts',
      'of reports is refused, since they are counted all or none',
    ]),
    row(
      'jobs that wait in a queue of usage',
      count(defaultMaxWaitingJobs),
      'usage is refused, retryably, until they are fewer',
      [
        'integration/sidecar/direct-queue.test.ts',
        'refuses at once while too much waits in the queue, and takes usage again when it is worked off',
      ],
      'INGESTION_MAX_WAITING_JOBS',
    ),
  ]
}

const strongReads = (cost: number) => count(cost / strongReadCost.built)
const count = (value: number) => value.toLocaleString('en')
const bytes = (value: number) => `${count(value)} bytes`

/** In Markdown, for the page that has a place for it. */
export function limitsTable(limits: readonly Limit[]): string {
  const rows = limits.map(
    ({ what, value, variable, beyond }) => `| ${what} | ${value} | ${variable ? `\`${variable}\`` : ''} | ${beyond} |`,
  )
  return ['| limit | value | set by | beyond it |', '| ----- | ----- | ------ | --------- |', ...rows].join('\n')
}
