/** Connections between a process and what it needs. */
import type { TcpProxy } from '../../support/tcp-proxy.js'
import type { Fault } from '../fault.js'
import { linksOf, types } from '../stage/process-types.js'

const kinds: readonly [kind: string, about: string, holdMs: number, begin: (link: TcpProxy) => void][] = [
  ['cut', 'are cut, and cannot be made for 3 s', 3_000, (link) => link.cut()],
  ['half-open', 'stay open and carry nothing: for ever those that were there, and those that are made then', 8_000, (link) => strand(link)],
  ['slow', 'carry everything 2 s later', 6_000, (link) => link.delay(2_000)],
]
/** Neither way. */
function strand(link: TcpProxy): void {
  link.freeze()
  link.deafen()
}

const quick = ['half-open-sidecar-web']

export const networkFaults: readonly Fault[] = types.flatMap((type) =>
  linksOf(type).flatMap((to) =>
    kinds.map(([kind, about, holdMs, begin]): Fault => {
      const name = `${kind}-${type}-${to}`
      return {
        name,
        about: `the connections of ${to === 'receiver' ? 'both' : 'one'} ${type} to ${to} ${about}`,
        isQuick: quick.includes(name),
        holdMs,
        async inject(stage) {
          const link = stage.of(type)[0]!.links[to]!
          begin(link)
          return async () => {
            link.mend()
            return []
          }
        },
      }
    }),
  ),
)
