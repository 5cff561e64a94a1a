import type { Clock, EpochMs } from '../kernel/clock.js'
import { ClockOffset } from '../kernel/clock-offset.js'
import type { Life } from './process.js'
import { type Queryable, readTime } from './sql.js'
import { every } from './timer.js'

/** A server that has taken over may have another time: it counts after so long. */
const intervalMs = 5_000
/** The first answer is the slowest. */
const firstQuestions = 3

/**
 * The database's time, which rules what is due, in force and too late, without asking for it each time: this process's steady clock, and how far it is from
 * the database's. Never ahead of it, and behind by about what one query takes. What the wall clock of this machine says does not matter.
 */
export class DatabaseClock implements Clock {
  readonly #offset = new ClockOffset()

  private constructor(private readonly db: Queryable) {}

  /** Knows the time from the beginning, and looks again as long as the process lives: a database that is away leaves it going. */
  static async open(life: Life, db: Queryable): Promise<DatabaseClock> {
    const clock = await DatabaseClock.read(db)
    every(life, 'clock of the database', intervalMs, () => clock.#learn())
    return clock
  }

  /** For who is done in a moment. */
  static async read(db: Queryable): Promise<DatabaseClock> {
    const clock = new DatabaseClock(db)
    for (let question = 0; question < firstQuestions; question++) await clock.#learn()
    return clock
  }

  now(): EpochMs {
    return Math.floor(performance.now() + this.#offset.value)
  }

  async #learn(): Promise<void> {
    const askedAt = performance.now()
    const time = await readTime(this.db)
    this.#offset.learn({ time, askedAt, answeredAt: performance.now() })
  }
}
