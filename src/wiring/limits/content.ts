import {
  maxCatalogInForce,
  maxDefinitionDepth,
  maxEntitlements,
  maxMetaDataBytes,
  maxPrices,
  maxTextCharacters,
} from '../../catalog/document/text-limits.js'
import { maxRecomputations } from '../../metering/corrections/recomputation.js'
import { maxDimensionBytesPerCall, maxItemsPerCall } from '../../metering/model/report.js'
import {
  arrivalTimeoutMs,
  largestRequestBytes,
  mostArrivingBytes,
  mostArrivingBytesOfConnection,
  mostConnections,
} from '../../sidecar/grpc/arrivals.js'
import { largestNameBytes, maxFields } from '../../sidecar/grpc/field-count.js'
import { begunAtOnce } from '../../sidecar/grpc/rounds.js'
import { bytes, count, type Limit, refused, row } from './row.js'

const arrivals = 'contract/grpc/arrivals.test.ts'

/** Of sidecars, and of what catalogs and usage may hold. */
export function limitsOfContent({ maxWaitingJobs }: { maxWaitingJobs: number }): Limit[] {
  return [
    row('connections of a sidecar, for gRPC', count(mostConnections), 'closed', [arrivals, 'come over so many connections, and no more']),
    row('calls of a sidecar that begin at once', count(begunAtOnce), 'begin a moment later', [
      'unit/sidecar/grpc/rounds.test.ts',
      'are begun so many in a round, in their order, each with what came with it',
    ]),
    row('request of a sidecar', bytes(largestRequestBytes), '`RESOURCE_EXHAUSTED`', [
      'contract/grpc/bounds.test.ts',
      'refuse a request that is too large',
    ]),
    row(
      'fields of a gRPC request with those of the messages in it',
      `${count(maxFields.question)} of a question, ${count(maxFields.usage)} of usage`,
      'refused (`INVALID_ARGUMENT`) before it is decoded',
      ['unit/sidecar/grpc/proto.test.ts', 'is not decoded when it has more fields than it may, wherever they are'],
    ),
    row('request of a sidecar for health or reflection', bytes(largestNameBytes), '`INTERNAL`', [
      'contract/grpc/bounds.test.ts',
      'refuse what is too large for a name of health and reflection',
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
    row('unfinished recomputations of an environment', count(maxRecomputations), 'refused (`RateLimitExceeded`) until some are finished', [
      'integration/metering/recomputation.test.ts',
      'has a bound of what an environment may ask for before it is done, equal requests aside',
    ]),
    row(
      'jobs that wait in a queue of usage',
      count(maxWaitingJobs),
      'usage is refused, retryably, until they are fewer',
      [
        'integration/sidecar/direct-queue.test.ts',
        'refuses at once while too much waits in the queue, and takes usage again when it is worked off',
      ],
      'INGESTION_MAX_WAITING_JOBS',
    ),
  ]
}
