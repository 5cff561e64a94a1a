import { lookupsPerSecond } from '../../environment/key-lookups.js'
import { maxTokenLength } from '../../environment/model/customer-token.js'
import { maxIdentifierLength } from '../../kernel/id.js'
import { headLimits, maxHealthConnections } from '../../platform/health.js'
import { maxFilterValues } from '../../platform/list/filter.js'
import { freshReadsAtATime } from '../../updates/held/fresh-reads.js'
import { maxWaitingCalls } from '../../web/access/admission.js'
import {
  bytesPerField,
  bytesPerPoint,
  costPerAddress,
  costPerCustomer,
  costPerKey,
  pageBytesPerAddress,
  pagesPerAddress,
  type RateLimitOptions,
  strongReadCost,
} from '../../web/access/rate-limits.js'
import { maxBytesOfOwner as maxUnreadOfOwner } from '../../web/access/unread-answers.js'
import { maxBatch } from '../../web/graphql/door/door.js'
import { largeAnswersAtATime } from '../../web/graphql/door/execution.js'
import {
  maxAliases,
  maxCharacters,
  maxCost,
  maxDepth,
  maxFragments,
  maxNesting,
  maxRepeats,
  maxTokens,
} from '../../web/graphql/door/limits.js'
import { maxAnswerBytes } from '../../web/graphql/operations/answer-text.js'
import {
  maxCharacters as maxCharactersOfValues,
  maxJsonDepth as maxDepthOfField,
  maxJsonBytes,
  maxListItems,
  maxObjects,
  maxValues,
} from '../../web/graphql/schema/bounds.js'
import { bodyTimeoutMs, maxBodyBytes, maxHeldBytes, maxHeldBytesPerCustomer, maxHeldBytesPerKey } from '../../web/http/body.js'
import { type ConnectionLimits, writeTimeoutMs } from '../../web/http/connections.js'
import { maxJsonDepth, maxJsonRunBytes, maxJsonTextBytes, maxJsonValues } from '../../web/http/json-shape.js'
import { madePerSecond } from '../../web/pages/docs.js'
import { bytes, count, type Limit, refused, row, slowedDown } from './row.js'

const door = 'unit/web/graphql/door'
const http = 'integration/web/http/http.test.ts'
const defence = 'integration/web/http/defence.test.ts'
const health = 'integration/platform/health.test.ts'
const operations = 'unit/web/graphql/operations'
const rateLimits = 'unit/web/access/rate-limits.test.ts'
const freshness = 'integration/web/graphql/entitlement/freshness.test.ts'
const doorLimits = 'integration/web/graphql/door/limits.test.ts'

/** Of connections, HTTP requests and documents of GraphQL, in the order in which they are held against what is asked. */
export function limitsOfRequests(limits: RateLimitOptions & ConnectionLimits & { operationTimeoutMs: number }): Limit[] {
  const { operationTimeoutMs, perKey, perCustomer, perAddress } = limits
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
    row('token of a customer', `${count(maxTokenLength)} characters`, '401', [
      'unit/environment/model/customer-token.test.ts',
      'is as long as that of the longest identifier, and no longer',
    ]),
    row('time for a body to arrive', `${count(bodyTimeoutMs)} ms`, '408', [defence, 'gives up what arrives too slowly, and says so']),
    row(
      'bodies that are arriving or being answered',
      `${bytes(maxHeldBytesPerCustomer)} of a customer with a client key, ${bytes(maxHeldBytesPerKey)} of a key, of an environment half of what the others leave of ${bytes(maxHeldBytes)}`,
      '429, 503',
      [defence, 'holds no more of one key than its share, and lets others send meanwhile'],
    ),
    row(
      'depth, values, bytes of a text, of a number or of space of a body',
      `${count(maxJsonDepth)}, ${count(maxJsonValues)}, ${count(maxJsonTextBytes)}, ${count(maxJsonRunBytes)}`,
      '413',
      [defence, 'refuses what would take long to parse, before it is parsed'],
    ),
    row(
      'fields of large answers',
      `${count(costPerKey)} a second of a key, ${count(costPerCustomer)} of a customer with a client key, ${count(costPerAddress)} of an address`,
      slowedDown,
      [defence, 'lets a customer have so many large answers a second'],
    ),
    row('values of a large question, where they are used', 'as fields of large answers, 100 characters as one more', slowedDown, [
      `${door}/large-answers.test.ts`,
      'to questions with many values is begun in turns, and takes a point for each of them where it is used',
    ]),
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
    row('pages and their files', `${count(pagesPerAddress)} a second of an address`, slowedDown, [
      defence,
      'gives an address so many a second, and others theirs',
    ]),
    row('bytes of pages and their files', `${bytes(pageBytesPerAddress)} a second of an address`, slowedDown, [
      rateLimits,
      'of pages is that of the address, and takes nothing from whoever has a key there',
    ]),
    row(
      'pages that are made for new addresses',
      `${count(madePerSecond)} a second of all`,
      'shown with the address that they were written with',
      ['unit/web/pages/docs.test.ts', 'is made for so many new addresses a second, and then shown as it was written'],
    ),
    row('bytes of answers that were made before', `as ${count(bytesPerPoint)} for a field of large answers`, slowedDown, [
      rateLimits,
      'of answers is that of large ones, by what giving them costs',
    ]),
    row(
      'bytes of a long answer of few fields',
      `as a field of large answers for each ${count(bytesPerField)} beyond those of its fields`,
      slowedDown,
      [`${door}/long-answers.test.ts`, 'is refused to who owes, before it is written, unless it tells of a change; short ones are given'],
    ),
    row('long answers that are made and not read', `${bytes(maxUnreadOfOwner)} of an environment`, '503 for large ones', [
      `${door}/long-answers.test.ts`,
      'is counted from when it is made until it is written, also in a list, and refused where others are not read',
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
      'values among variables, and their characters, in each place where they are used',
      `${count(maxValues)}, ${count(maxCharactersOfValues)}`,
      refused,
      [`${operations}/document-bounds.test.ts`, 'hold of all values and characters of a request, in each place where they are used'],
    ),
    row('values in all lists of a filter', count(maxFilterValues), refused.replace(' before anything is done', ''), [
      'unit/platform/list/filter.test.ts',
      'takes so many values of all its lists together',
    ]),
    row(
      'objects among variables, usage aside',
      `${count(maxObjects.query)} of a query, ${count(maxObjects.mutation)} of a mutation`,
      refused,
      [`${operations}/document-bounds.test.ts`, 'hold of how many objects graphql-js is to make something of, wherever they are'],
    ),
    row(
      'large answers, and long ones, that are made at a time',
      `${count(largeAnswersAtATime.ofOwner)} of an environment, ${count(largeAnswersAtATime.inAll)} of all`,
      'wait for their turn',
      [
        `${door}/long-answers.test.ts`,
        'has a place among the large ones of its environment, whatever its fields are, and short ones wait for none',
      ],
    ),
    row(
      'time of an operation',
      `${count(operationTimeoutMs)} ms`,
      'ended, its SQL too',
      [doorLimits, 'end a query, and its SQL too'],
      'OPERATION_TIMEOUT_MS',
    ),
  ]
}

const strongReads = (cost: number) => count(cost / strongReadCost.built)
