import { shareOf } from '../../kernel/crowd.js'

/** So many items, and the memory that they take. */
export interface Load {
  items: number
  bytes: number
}

/** A second or two of work of the workers. More of it waiting means that they are too few, and the caller should know. */
const most: Readonly<Load> = { items: 40_000, bytes: 64 * 2 ** 20 }

/**
 * The room of a process for usage that has no answer yet. An environment has at most its share (`shareOf`) of it.
 */
export class WaitingRoom {
  readonly #all: Load = { items: 0, bytes: 0 }
  readonly #ofEnvironment = new Map<string, Load>()

  get bytes(): number {
    return this.#all.bytes
  }

  itemsOf(environmentId: string): number {
    return this.#ofEnvironment.get(environmentId)?.items ?? 0
  }

  hasRoom(environmentId: string, load: Load): boolean {
    const own = this.#ofEnvironment.get(environmentId)
    return (['items', 'bytes'] as const).every((measure) => {
      const ofOwn = own?.[measure] ?? 0
      return ofOwn + load[measure] <= shareOf({ most: most[measure], taken: this.#all[measure], own: ofOwn })
    })
  }

  enter(environmentId: string, load: Load): void {
    const own = this.#ofEnvironment.get(environmentId) ?? { items: 0, bytes: 0 }
    add(own, load, 1)
    add(this.#all, load, 1)
    this.#ofEnvironment.set(environmentId, own)
  }

  leave(environmentId: string, load: Load): void {
    const own = this.#ofEnvironment.get(environmentId)!
    add(own, load, -1)
    add(this.#all, load, -1)
    if (own.items === 0) this.#ofEnvironment.delete(environmentId)
  }

  /** Less than a quarter is taken, so whoever was refused finds room again. */
  get isCalm(): boolean {
    return this.#all.items <= most.items / 4 && this.#all.bytes <= most.bytes / 4
  }
}

function add(to: Load, { items, bytes }: Load, sign: 1 | -1): void {
  to.items += sign * items
  to.bytes += sign * bytes
}
