import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type DocumentNode, execute, type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { withinSignal } from '../../platform/context/within-signal.js'
import type { AskedFreshness } from '../../updates/held/fresh-reads.js'
import { type AnswerBody, bytesOf } from '../access/answer-body.js'
import { authorize, type Identity } from '../access/auth.js'
import { turnMs, turns } from '../access/fair-turns.js'
import { keptListSizes } from '../graphql/catalog/list-sizes.js'
import { hungUp, largeAnswers } from '../graphql/door/execution.js'
import { type CostOf, type ListSizes, maxCost, maxCostAtOnce, maxFreeStateCost, prepareCost } from '../graphql/door/limits.js'
import { type LongAnswerLimits, writeLong } from '../graphql/door/long-answers.js'
import { shortTextOf } from '../graphql/operations/answer-text.js'
import { createContext, type Services } from '../graphql/operations/context.js'
import { type DocumentBounds, documentBounds } from '../graphql/operations/document-bounds.js'
import { toProblem } from '../graphql/operations/errors.js'
import { Operation } from '../graphql/operations/operation.js'
import { Turns } from '../graphql/operations/turns.js'
import { type EdgeDocument, edgeDocuments } from './documents.js'
import type { EdgeRoute } from './route.js'

export interface PageOptions extends LongAnswerLimits {
  app: Services & { entitlements: EdgeStates }
  schema: GraphQLSchema
  timeoutMs: number
}

/** Where states come from; `held` answers at once or null. `grow`: room for what is kept of one; false: it is not to be kept. */
interface EdgeStates {
  grow(state: EntitlementState, bytes: number): boolean
  held(environmentId: string, customerId: string, resourceId: string | null, maxAgeMs?: number): EntitlementState | null
}

/** An answer as it goes over the wire. */
export interface Page {
  /** A text has its UTF-8 as characters of one byte each, which Node sends in one piece with the headers. */
  body: AnswerBody
  bytes: number
  etag: string
  /** For this request, which has paid for it. */
  isMade?: true
}

/** Who asks for a page, and what it goes to. */
export interface Asker {
  identity: Identity
  address: string
  res: ServerResponse
}

/** Of a page beside its text. */
const pageBytes = 250

interface PreparedPage {
  document: DocumentNode
  operation: OperationDefinitionNode
  bounds: DocumentBounds
  costOf: CostOf
}

function preparePage(schema: GraphQLSchema, text: string): PreparedPage {
  const document = parse(text)
  return {
    document,
    operation: document.definitions[0] as OperationDefinitionNode,
    bounds: documentBounds(schema, document),
    costOf: prepareCost(schema, document),
  }
}

interface Question {
  document: EdgeDocument
  variables: Record<string, unknown>
  /** The one that the page is about; absent: there is more to it, and it is made anew for whoever asks. */
  state?: EntitlementState
}

export class Pages {
  readonly #options: PageOptions
  readonly #prepared = new Map<EdgeDocument, PreparedPage>()
  readonly #ofState = new WeakMap<EntitlementState, Map<EdgeDocument, Page>>()
  readonly #listSizes: ReturnType<typeof keptListSizes>

  constructor(options: PageOptions) {
    this.#options = options
    this.#listSizes = keptListSizes(options.app.offers)
  }

  async get(
    { document, input, resourceIds, environmentId }: EdgeRoute,
    asker: Asker,
    freshness: AskedFreshness | undefined,
  ): Promise<Page> {
    const { identity } = asker
    if (document !== 'entitlements' && document !== 'entitlementsState') {
      const variables = variablesOf(document, input, resourceIds)
      this.#check(document, variables)
      return { ...(await this.#make({ document, variables }, asker)), isMade: true }
    }
    const { customerId = '' } = input
    const variables = { query: { customerId, resourceId: resourceIds[0] ?? null, ...(environmentId !== undefined && { environmentId }) } }
    authorize(identity, { operation: 'Query', field: 'entitlementsState', args: variables })
    const { entitlements } = this.#options.app
    const of = [identity.environmentId, customerId, resourceIds[0] ?? null] as const
    const held = entitlements.held(...of, freshness?.maxAgeMs)
    const known = held && this.#ofState.get(held)?.get(document)
    if (known) return known
    this.#check(document, variables)
    const state = held ?? (await entitlements.state(...of, freshness))
    return { ...(await this.#make({ document, variables, state }, asker)), isMade: true }
  }

  #keep(state: EntitlementState, document: EdgeDocument, page: Page): void {
    const ofState = this.#ofState.get(state) ?? new Map<EdgeDocument, Page>()
    if (!ofState.has(document) && this.#options.app.entitlements.grow(state, pageBytes + page.bytes))
      this.#ofState.set(state, ofState.set(document, page))
  }

  #prepare(name: EdgeDocument): PreparedPage {
    const prepared = this.#prepared.get(name) ?? preparePage(this.#options.schema, edgeDocuments[name])
    this.#prepared.set(name, prepared)
    return prepared
  }

  /** What addresses say has the bounds of the fields that it is for. */
  #check(name: EdgeDocument, variables: Record<string, unknown>): void {
    const { operation, bounds } = this.#prepare(name)
    bounds.check(operation, variables)
  }

  /** How long the lists of the page are, as far as that is known; undefined: it is small whatever they are. */
  async #sizesOf({ document, state }: Question, { environmentId }: Identity): Promise<ListSizes | undefined> {
    if (state) return isShort(state) ? undefined : stateSizes(state)
    return this.#prepare(document).costOf({}) > maxCostAtOnce ? this.#listSizes.fetch(environmentId) : undefined
  }

  /** Has the limits of all doors of the schema: what may be large is paid for before it is made, and made in one of the places for such. Fails as `execute` does. */
  async #make(question: Question, { identity, address, res }: Asker): Promise<Page> {
    const { rateLimits, timeoutMs } = this.#options
    const { document, state } = question
    const { environmentId } = identity
    if (!turns.takeNow(environmentId)) await turns.take(environmentId)
    const { costOf } = this.#prepare(document)
    const sizes = await this.#sizesOf(question, identity)
    const cost = sizes ? costOf({}, sizes) : 0
    if (cost > maxCost) throw invalidInput(`The page may have ${cost} fields, at most ${maxCost} are given.`)
    const isLarge = cost > maxCostAtOnce
    // How many subscriptions there are is known when they have been read.
    const isCounted = document === 'activeSubscriptions'
    const paid = isCounted || cost > (state ? maxFreeStateCost : maxCostAtOnce) ? cost : 0
    if (paid > 0) rateLimits.takeCost(identity, address, paid)
    const settle = (spent: number) => rateLimits.giveBackCost(identity, address, paid - spent)
    const operation = new Operation()
    operation.environmentId = environmentId
    const nextTurn = () => turns.take(environmentId)
    const make = async () => {
      const known = state && this.#ofState.get(state)?.get(document)
      // Nothing is begun for whom nobody waits any more, or twice when many wait for the same.
      if (operation.givenUp || known) settle(0)
      if (operation.givenUp) throw operation.givenUp.reason
      if (known) return known
      const data = await this.#execute(question, { identity, operation, isLarge }).catch((error: unknown) => {
        if (isCounted) settle(0)
        throw error
      })
      const spent = isCounted ? costOf({}, withListed(data, sizes)) : cost
      if (isCounted) settle(spent)
      const asked = { operation, identity, address, cost: spent, hasPlace: isLarge }
      const page = await toPage(shortTextOf({ data }, operation.room) ?? (await writeLong({ data }, asked, this.#options)), nextTurn)
      if (state) this.#keep(state, document, page)
      return page
    }
    return within(operation, { res, timeoutMs }, () => (isLarge ? largeAnswers.run(environmentId, make) : make()))
  }

  /** Fails with the Problem of the first error. */
  async #execute(
    { document: name, variables, state }: Question,
    { identity, operation, isLarge }: { identity: Identity; operation: Operation; isLarge: boolean },
  ): Promise<object> {
    const { app, schema } = this.#options
    const source = app.entitlements
    const entitlements = state ? { state: async () => state, check: source.check.bind(source) } : source
    // What is read from the database may be longer than it is taken for.
    const inTurns = state && !isLarge ? null : new Turns(operation, () => turns.take(identity.environmentId))
    const contextValue = createContext({ app: { ...app, entitlements }, identity, operation, turns: inTurns })
    const { document } = this.#prepare(name)
    const { data, errors } = await withinSignal(operation, async () =>
      execute({ schema, document, variableValues: variables, contextValue, fieldResolver: inTurns?.fieldResolver }),
    )
    if (operation.givenUp) throw operation.givenUp.reason
    if (errors?.[0]) throw toProblem(errors[0])
    return data!
  }
}

/** No entitlement of a page has as many fields as a hundredth of what is small. */
const isShort = ({ entitlements, next }: EntitlementState) => entitlements.length + (next?.entitlements.length ?? 0) <= maxCostAtOnce / 100

const stateSizes =
  ({ entitlements, next }: EntitlementState): ListSizes =>
  (typeName) =>
    typeName === 'NextEntitlements' ? (next?.entitlements.length ?? 0) : entitlements.length

const withListed =
  (data: object, sizes: ListSizes | undefined): ListSizes =>
  (typeName, fieldName) => {
    const listed: unknown = typeName === 'Query' ? (data as Record<string, unknown>)[fieldName] : undefined
    return Array.isArray(listed) ? listed.length : sizes?.(typeName, fieldName)
  }

/** What `work` comes to, or why the operation was given up: it takes too long, or the client has gone. */
async function within<T>(
  operation: Operation,
  { res, timeoutMs }: { res: ServerResponse; timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const late = () => operation.giveUp(new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', `The answer was not ready within ${timeoutMs} ms.`))
  const gone = () => operation.giveUp(hungUp())
  const over = new Promise<never>((_, reject) => {
    operation.whenOver(() => reject(operation.givenUp!.reason))
  })
  const timer = setTimeout(late, timeoutMs)
  res.once('close', gone)
  if (res.closed) gone()
  try {
    return await Promise.race([work(), over])
  } finally {
    clearTimeout(timer)
    res.off('close', gone)
  }
}

function variablesOf(document: EdgeDocument, input: EdgeRoute['input'], resourceIds: string[]): Record<string, unknown> {
  if (document === 'activeSubscriptions')
    return { input: { customerId: input.customerId, ...(resourceIds.length > 0 ? { resourceIds } : {}) } }
  return document === 'paywall' ? { input } : {}
}

async function toPage(text: string | Buffer[], nextTurn: () => Promise<void>): Promise<Page> {
  const pieces = typeof text === 'string' ? [Buffer.from(text)] : text
  const hash = createHash('sha256')
  let startedAt = performance.now()
  for (const piece of pieces) {
    hash.update(piece)
    if (performance.now() - startedAt < turnMs) continue
    await nextTurn()
    startedAt = performance.now()
  }
  const bytes = bytesOf(pieces)
  const body = typeof text !== 'string' ? text : text.length === bytes ? text : pieces[0]!.toString('latin1')
  return { body, bytes, etag: `"${hash.digest('base64url')}"` }
}
