/** What callers do over WebSocket, without a key and with the token of an end user. */
import type { WebSocket } from 'ws'
import type { Attack } from '../attack.js'
import type { Attacker } from '../attacker/attacker.js'
import { enter, openDeaf, pings, pour, subscribe } from '../attacker/web-socket.js'

const pingFlood: Attack = {
  name: 'ping-flood',
  about: 'no key: four sockets that send pings as fast as they can and read no answer',
  run: async (attacker) => {
    // Fewer at once than the server's library takes for a flood by itself.
    const many = pings(100)
    await attacker.repeat(4, async (_, caller) => {
      attacker.tried += 1
      const socket = await openDeaf(attacker, attacker.address(caller))
      await pour(attacker, socket, many)
      if (!attacker.signal.aborted) attacker.refused += 1
      await attacker.pause(50)
    })
  },
}

const silentSockets: Attack = {
  name: 'silent-sockets',
  about: 'no key: 300 sockets that never say who they are',
  run: async (attacker) => {
    for (let n = 0; n < 300 && !attacker.signal.aborted; n++) await enter(attacker, attacker.address(n % 4))
    await attacker.wait()
  },
}

const uninvited: Attack = {
  name: 'uninvited-messages',
  about: 'no key: sockets that send messages of 250 kB before they say who they are',
  run: async (attacker) => {
    const message = subscribe('1', `subscription { ${'a '.repeat(120_000)} }`)
    await attacker.repeat(8, async (_, caller) => {
      const socket = await enter(attacker, attacker.address(caller))
      for (let n = 0; n < 20; n++) socket?.send(message)
      await attacker.pause(20)
      socket?.terminate()
    })
  },
}

const madeUpSockets: Attack = {
  name: 'made-up-sockets',
  about: 'made-up keys over WebSocket, another each time',
  run: (attacker) =>
    attacker.repeat(16, async (n, caller) => {
      const socket = await enter(attacker, attacker.address(caller), { 'x-api-key': `${attacker.target.clientKey.slice(0, -6)}${n}` })
      socket?.terminate()
    }),
}

/** Sockets of one customer that are let in. */
async function enterAll(attacker: Attacker, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  for (let n = 0; n < count && !attacker.signal.aborted; n++) {
    const socket = await enter(attacker, attacker.address(n % 4), attacker.asEndUser())
    if (socket) sockets.push(socket)
  }
  return sockets
}

/** Changes what the customer has used, which is told to whoever listens. */
async function change(attacker: Attacker, everyMs: number): Promise<void> {
  const { signal, target } = attacker
  while (!signal.aborted) {
    const input = { customerId: target.customerId, featureId: target.featureId, value: 1 }
    await attacker.graphql({
      query: 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }',
      variables: { input },
    })
    await attacker.pause(everyMs)
  }
}

const manySockets: Attack = {
  name: 'many-sockets',
  about: 'an end user: 150 sockets of one customer that listen, while it changes',
  run: async (attacker) => {
    for (const socket of await enterAll(attacker, 150))
      socket.send(
        subscribe('1', 'subscription { entitlementsUpdated { customerId resourceId entitlements { isGranted feature { refId } } } }'),
      )
    await change(attacker, 200)
  },
}

const fields = ['isGranted', 'usageLimit', 'currentUsage', 'hasUnlimitedUsage', 'resetPeriod', 'usagePeriodStart', 'usagePeriodEnd']

/** A document of so many aliases about each entitlement, of which each number is another one. */
function aliased(aliases: number, number: number): string {
  const list = Array.from({ length: aliases }, (_, n) => `a${number}_${n}: ${fields[n % fields.length]}`)
  return `subscription { entitlementsUpdated { customerId resourceId entitlements { ${list.join(' ')} } } }`
}

const subscriptions = (aliases: number): Attack => ({
  name: `subscriptions-${aliases}`,
  about: `an end user: 50 subscriptions with ${aliases.toLocaleString('en')} aliases on each of two sockets, and changes`,
  run: async (attacker) => {
    for (const socket of await enterAll(attacker, 2)) {
      socket.on('message', (data) => {
        if (String(data).includes('"type":"error"')) attacker.refused += 1
      })
      for (let n = 0; n < 50; n++) {
        attacker.tried += 1
        socket.send(subscribe(`${n}`, aliased(aliases, n)))
      }
    }
    await change(attacker, 500)
  },
})

const longIds: Attack = {
  name: 'long-subscription-ids',
  about: 'an end user: 50 subscriptions on each of ten sockets, whose ids have 60 kB, and changes',
  run: async (attacker) => {
    for (const socket of await enterAll(attacker, 10)) {
      for (let n = 0; n < 50; n++) {
        attacker.tried += 1
        socket.send(subscribe(`${n}-`.padEnd(60_000, 'i'), 'subscription { entitlementsUpdated { customerId } }'))
      }
    }
    await change(attacker, 200)
  },
}

const newSockets: Attack = {
  name: 'new-sockets',
  about: 'an end user: sockets that are opened, let in and closed as fast as eight callers can',
  run: (attacker) =>
    attacker.repeat(8, async (_, caller) => {
      const socket = await enter(attacker, attacker.address(caller), attacker.asEndUser())
      socket?.terminate()
    }),
}

const messageFlood: Attack = {
  name: 'message-flood',
  about: 'an end user: subscribes and completes as fast as it can, on four sockets',
  run: async (attacker) => {
    await attacker.repeat(4, async (number, caller) => {
      const socket = await enter(attacker, attacker.address(caller), attacker.asEndUser())
      for (let n = 0; socket?.readyState === socket?.OPEN && socket && !attacker.signal.aborted; n++) {
        attacker.tried += 1
        socket.send(subscribe(`${n}`, `subscription s${number}_${n} { usageUpdated { usage { customerId } } }`))
        socket.send(JSON.stringify({ id: `${n}`, type: 'complete' }))
        if (n % 50 === 49) await attacker.pause(1)
      }
      await attacker.pause(20)
    })
  },
}

const protocolPings: Attack = {
  name: 'protocol-pings',
  about: 'an end user: pings of the protocol with 200 kB that are to be answered, whose answers nobody reads',
  run: async (attacker) => {
    const message = JSON.stringify({ type: 'ping', payload: { a: 'p'.repeat(200_000) } })
    await attacker.repeat(2, async (_, caller) => {
      const socket = await enter(attacker, attacker.address(caller), attacker.asEndUser())
      socket?.pause()
      for (let n = 0; socket && socket.readyState === socket.OPEN && !attacker.signal.aborted; n++) {
        socket.send(message)
        if (n % 5 === 4) await attacker.pause(5)
        // Its own memory is not to be filled either.
        while (socket.bufferedAmount > 8_000_000 && socket.readyState === socket.OPEN && !attacker.signal.aborted) await attacker.pause(5)
      }
      await attacker.pause(20)
    })
  },
}

export const socketAttacks: readonly Attack[] = [
  pingFlood,
  silentSockets,
  uninvited,
  madeUpSockets,
  manySockets,
  subscriptions(2_500),
  subscriptions(95),
  longIds,
  newSockets,
  messageFlood,
  protocolPings,
]
