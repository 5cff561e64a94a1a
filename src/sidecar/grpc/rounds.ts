import type { Http2Server, ServerHttp2Stream } from 'node:http2'

/** Calls that are begun in one round of the event loop: a check takes some twenty to a hundred microseconds. */
export const begunAtOnce = 64

type Begin = [stream: ServerHttp2Stream, ...more: unknown[]]

/**
 * Has the calls of a server, over all of its connections, begin so many at a time, and everybody be served in between. What one read of a connection brings is
 * hundreds of calls at most; those that its caller has taken back by their turn are never begun.
 */
export function beginInRounds(server: Http2Server): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...args: unknown[]) => boolean
  const waiting: Begin[] = []
  let [begun, isRound] = [0, false]
  const round = () => {
    begun = 0
    while (waiting.length > 0 && begun < begunAtOnce) {
      const next = waiting.shift()!
      if (next[0].closed || next[0].destroyed) continue
      begun += 1
      emit('stream', ...next)
    }
    isRound = waiting.length > 0 || begun > 0
    if (isRound) setImmediate(round)
  }
  server.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event !== 'stream') return emit(event, ...args)
    if (!isRound) setImmediate(round)
    isRound = true
    if (begun < begunAtOnce && waiting.length === 0) {
      begun += 1
      return emit(event, ...args)
    }
    const [stream] = args as Begin
    // Nobody else hears how it ends until it is begun.
    stream.on('error', () => undefined)
    waiting.push(args as Begin)
    return true
  }
}
