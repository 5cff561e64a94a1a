/** How long somebody waits for an answer: until it is over. */
export interface Patience {
  readonly isOver: boolean
  /** Calls the listener when it is over. Answers what takes the listener away again. */
  whenOver(listener: () => void): () => void
}

export function patienceOf(signal: AbortSignal): Patience {
  return {
    get isOver() {
      return signal.aborted
    },
    whenOver(listener) {
      signal.addEventListener('abort', listener)
      return () => signal.removeEventListener('abort', listener)
    },
  }
}
