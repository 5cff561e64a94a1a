import {
  defaultFieldResolver,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
} from 'graphql'
import { turnMs } from '../../access/fair-turns.js'
import { toGraphqlError } from './errors.js'
import type { Operation } from './operation.js'

/** The clock is looked at before so many items: to wait takes as long as an item of some fields. */
const itemsPerPause = 4

/** Promises in each other from here to the fields of an item, in graphql-js. */
const hopsToFields = 6

/**
 * A large answer is made in turns, between which everybody else of the process is served: graphql-js by itself makes all that is at hand without a
 * pause. Each list of objects, and each few of its items, wait for those before them, and for the next turn when this one has lasted long
 * enough.
 */
export class Turns {
  readonly #operation: Pick<Operation, 'givenUp'>
  readonly #nextTurn: () => Promise<void>
  #startedAt = performance.now()
  /** The next one last: what a list or an item leads to comes before what comes after it, so that little is begun at a time. */
  readonly #waiting: (() => void)[] = []
  /** Those that have come since the last one was served. */
  readonly #added: (() => void)[] = []
  #isServing = false
  #refusal: GraphQLError | undefined

  /** What is left is not done any more when the operation is given up. `nextTurn` resolves when others have been served. */
  constructor(operation: Pick<Operation, 'givenUp'>, nextTurn: () => Promise<void>) {
    this.#operation = operation
    this.#nextTurn = nextTurn
  }

  /** For fields without a resolver. */
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    const value = defaultFieldResolver(source, args, context, info)
    return isListOfObjects(info.returnType) ? this.take(value) : value
  }

  /** What a field is resolved to. A list waits too: one object may have many under other names, each as long as the first. */
  take(value: unknown): unknown {
    if (value instanceof Promise) return value.then((list) => this.take(list))
    if (!Array.isArray(value)) return value
    // Whatever fails before its turn is looked at then.
    for (const item of value) if (item instanceof Promise) item.catch(() => {})
    return this.pause().then(() => this.#inTurns(value))
  }

  #inTurns(items: readonly unknown[]): Promise<unknown>[] {
    let paused = Promise.resolve()
    return items.map((item, index) => {
      if (index % itemsPerPause === 0) paused = this.pause()
      return this.#await(paused, item)
    })
  }

  /** Has a field resolved in its turn: what is made of its arguments may take a while. */
  async begin<T>(resolve: () => T): Promise<Awaited<T>> {
    await this.#await(this.pause(), null)
    return await resolve()
  }

  /** Before what takes a while: resolves at once, or in the next turn when this one has lasted long enough. */
  pause(): Promise<void> {
    const paused = new Promise<void>((resolve) => this.#added.push(resolve))
    if (!this.#isServing) void this.#serve()
    return paused
  }

  async #serve(): Promise<void> {
    this.#isServing = true
    for (;;) {
      // By then whoever was served last has come as far as it comes without waiting.
      for (let hop = 0; hop < hopsToFields; hop++) await null
      while (this.#added.length > 0) this.#waiting.push(this.#added.pop()!)
      const resolve = this.#waiting.pop()
      if (!resolve) break
      if (performance.now() - this.#startedAt >= turnMs) await this.#next()
      resolve()
    }
    this.#isServing = false
  }

  #await(paused: Promise<void>, item: unknown): Promise<unknown> {
    return paused.then(() => {
      const { givenUp } = this.#operation
      if (givenUp) throw this.#refuse(givenUp.reason)
      return item
    })
  }

  /** One for all that is left, with a place: of an error without one graphql-js makes another for each item, which takes longer than the answer had. */
  #refuse(reason: unknown): GraphQLError {
    if (!this.#refusal) {
      const { message, originalError } = toGraphqlError(reason)
      this.#refusal = new GraphQLError(message, { originalError, path: [] })
    }
    return this.#refusal
  }

  async #next(): Promise<void> {
    await this.#nextTurn()
    this.#startedAt = performance.now()
  }
}

export const isListOfObjects = (type: GraphQLOutputType): boolean =>
  isListType(getNullableType(type)) && isCompositeType(getNamedType(type))
