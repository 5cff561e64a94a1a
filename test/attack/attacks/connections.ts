/** What callers without a key do with connections and bodies. */
import type { Socket } from 'node:net'
import type { Attack } from '../attack.js'
import type { Attacker } from '../attacker/attacker.js'
import { headOf, open } from '../attacker/http.js'

/** The largest body that is read, as it is documented. */
export const largestBody = 5 * 1024 * 1024
const anonymous = { headers: {} }

/** Opens so many connections, from some addresses, and counts those that are closed or answered before the end. */
async function hold(attacker: Attacker, count: number, begin: (socket: Socket) => void): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let n = 0; n < count && !attacker.signal.aborted; n++) {
    const socket = open(new URL(attacker.target.webUrl), attacker.address(n % 4))
    attacker.tried += 1
    let isRefused = false
    const refuse = () => {
      if (!isRefused && !attacker.signal.aborted) attacker.refused += 1
      isRefused = true
    }
    socket.once('data', refuse)
    socket.once('close', refuse)
    begin(socket)
    sockets.push(socket)
    if (n % 20 === 19) await attacker.pause(20)
  }
  return sockets
}

const almostAll = Buffer.alloc(4.9 * 1024 * 1024, '{"query":"{__typename}","variables":{"a":"')

const stalledBodies = (count: number): Attack => ({
  name: `stalled-bodies-${count}`,
  about: `no key: ${count} connections whose bodies stop at 4.9 of 5 MB`,
  run: async (attacker) => {
    await hold(attacker, count, (socket) => {
      socket.write(headOf(largestBody))
      socket.write(almostAll)
    })
    await attacker.wait()
  },
})

const slowHeaders: Attack = {
  name: 'slow-headers',
  about: 'no key: 300 connections that send their headers byte by byte',
  run: async (attacker) => {
    const sockets = await hold(attacker, 300, (socket) => socket.write('POST /graphql HTTP/1.1\r\nhost: localhost\r\nx-slow: '))
    while (!attacker.signal.aborted) {
      for (const socket of sockets) if (!socket.destroyed) socket.write('a')
      await attacker.pause(250)
    }
  },
}

const slowBodies: Attack = {
  name: 'slow-bodies',
  about: 'no key: 300 connections that send their bodies byte by byte',
  run: async (attacker) => {
    const sockets = await hold(attacker, 300, (socket) => socket.write(headOf(100_000)))
    while (!attacker.signal.aborted) {
      for (const socket of sockets) if (!socket.destroyed) socket.write(' ')
      await attacker.pause(250)
    }
  },
}

const idleConnections: Attack = {
  name: 'idle-connections',
  about: 'no key: 1,000 connections that say nothing',
  run: async (attacker) => {
    await hold(attacker, 1_000, () => undefined)
    await attacker.wait()
  },
}

const longHeaders: Attack = {
  name: 'long-headers',
  about: 'no key: requests with 15 kB of headers, and made-up keys of that length',
  run: (attacker) =>
    attacker.repeat(8, (n, caller) =>
      attacker.graphql('{"query":"{__typename}"}', {
        address: attacker.address(caller),
        headers: { 'x-api-key': `${n}`.padEnd(15_000, 'k') },
      }),
    ),
}

/** A body of which little is needed to make much work. */
const bodies = (name: string, what: string, makeBody: () => string): Attack => ({
  name,
  about: `no key: ${what}, from four callers`,
  run: async (attacker) => {
    const body = makeBody()
    await attacker.repeat(4, (_, caller) => attacker.graphql(body, { ...anonymous, address: attacker.address(caller) }))
  },
})

const brackets = bodies('brackets', 'bodies of 5.2 MB of "["', () => '['.repeat(largestBody))
const deepJson = bodies('deep-json', 'JSON that nests 200,000 levels deep', () => {
  const depth = 200_000
  return `{"query":"{__typename}","variables":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
})
const manyNames = bodies('many-names', 'JSON objects of 250,000 names', () => {
  const names = Array.from({ length: 250_000 }, (_, n) => `"name${n}":1`)
  return `{"query":"{__typename}","variables":{${names.join(',')}}}`
})

const keyless: Attack = {
  name: 'keyless',
  about: 'no key: small requests as fast as they are answered, from 16 addresses',
  run: (attacker) =>
    attacker.repeat(16, (_, caller) => attacker.graphql('{"query":"{__typename}"}', { ...anonymous, address: attacker.address(caller) })),
}

const madeUpKeys: Attack = {
  name: 'made-up-keys',
  about: 'made-up keys, another each time, from 16 addresses',
  run: async (attacker) => {
    // Formed as real ones are, so that only the database knows.
    const { serverKey } = attacker.target
    const madeUp = (n: number) => `${serverKey.slice(0, -8)}${(n * 2_654_435_761).toString(36).padStart(8, 'a').slice(-8)}`
    await attacker.repeat(16, (n, caller) =>
      attacker.graphql('{"query":"{__typename}"}', { address: attacker.address(caller), headers: { 'x-api-key': madeUp(n) } }),
    )
  },
}

const abortedUploads: Attack = {
  name: 'aborted-uploads',
  about: 'a server key: uploads that are given up in the middle',
  run: (attacker) =>
    attacker.repeat(16, async (_, caller) => {
      const socket = open(new URL(attacker.target.webUrl), attacker.address(caller))
      attacker.tried += 1
      socket.write(headOf(1_000_000, attacker.asServer()))
      socket.write(almostAll.subarray(0, 500_000))
      await attacker.pause(20)
      socket.destroy()
    }),
}

export const connectionAttacks: readonly Attack[] = [
  stalledBodies(60),
  stalledBodies(260),
  slowHeaders,
  slowBodies,
  idleConnections,
  longHeaders,
  brackets,
  deepJson,
  manyNames,
  keyless,
  madeUpKeys,
  abortedUploads,
]
