/** What callers do to a sidecar. */
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { Attack } from '../attack.js'
import type { Attacker } from '../attacker/attacker.js'
import { entitlementPath, frame } from '../attacker/grpc.js'

const headers = { ':method': 'POST', ':path': entitlementPath, 'content-type': 'application/grpc', te: 'trailers' }

function connect(attacker: Attacker, address: string): ClientHttp2Session {
  const { hostname, port, origin } = new URL(attacker.target.sidecarUrl)
  const session = connectHttp2(origin, {
    createConnection: () => connectTcp({ host: hostname, port: Number(port), localAddress: address }),
  })
  session.on('error', () => undefined)
  return session
}

/** One call, counted; what is not answered with OK is refused. */
function call(attacker: Attacker, session: ClientHttp2Session, message: Buffer): Promise<void> {
  attacker.tried += 1
  return new Promise((resolve) => {
    let isOk = false
    const finish = () => {
      if (isOk) attacker.granted += 1
      else if (!attacker.signal.aborted) attacker.refused += 1
      resolve()
    }
    if (session.destroyed || session.closed) return finish()
    const stream = session.request(headers)
    const note = (fields: Record<string, unknown>) => {
      if (fields['grpc-status'] === '0') isOk = true
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('data', () => undefined)
    stream.on('error', () => undefined)
    stream.on('close', finish)
    stream.end(message)
  })
}

/** Callers with a connection each that opens another when it is closed. */
async function callAgainAndAgain(attacker: Attacker, callers: number, message: (n: number) => Buffer): Promise<void> {
  const sessions = new Map<number, ClientHttp2Session>()
  await attacker.repeat(callers, async (n, caller) => {
    let session = sessions.get(caller)
    if (!session || session.destroyed || session.closed) {
      session = connect(attacker, attacker.address(caller))
      sessions.set(caller, session)
    }
    await call(attacker, session, message(n))
  })
}

const largeMessages: Attack = {
  name: 'grpc-large-messages',
  about: 'a caller of the sidecar: messages of 3.9 MB about customers that do not exist, another each time',
  against: 'sidecar',
  run: (attacker) => callAgainAndAgain(attacker, 4, (n) => frame(`${n}-`.padEnd(3_900_000, 'c'), attacker.target.featureId)),
}

const brokenText: Attack = {
  name: 'grpc-broken-text',
  about: 'a caller of the sidecar: identifiers that are no UTF-8, another each time',
  against: 'sidecar',
  mustBeRefused: true,
  run: (attacker) =>
    callAgainAndAgain(attacker, 8, (n) =>
      frame(Buffer.concat([Buffer.from(`${n}`), Buffer.from([0xff, 0xc0, 0x80])]), attacker.target.featureId),
    ),
}

const unknownCustomers: Attack = {
  name: 'grpc-unknown-customers',
  about: 'a caller of the sidecar: customers that do not exist, another each time',
  against: 'sidecar',
  run: (attacker) => callAgainAndAgain(attacker, 8, (n) => frame(`${n}-`.padEnd(255, 'c'), attacker.target.featureId)),
}

const openStreams: Attack = {
  name: 'grpc-open-streams',
  about: 'a caller of the sidecar: streams as many as are let in, that never end',
  against: 'sidecar',
  run: async (attacker) => {
    const begun = frame(attacker.target.customerId, attacker.target.featureId).subarray(0, 8)
    for (let connection = 0; connection < 8; connection++) {
      const session = connect(attacker, attacker.address(connection))
      for (let n = 0; n < 2_000 && !attacker.signal.aborted; n++) {
        attacker.tried += 1
        const stream = session.request(headers)
        stream.on('error', () => undefined)
        stream.on('close', () => {
          if (!attacker.signal.aborted) attacker.refused += 1
        })
        stream.write(begun)
        if (n % 200 === 199) await attacker.pause(10)
      }
    }
    await attacker.wait()
  },
}

const halfRequests: Attack = {
  name: 'grpc-half-requests',
  about: 'a caller of the sidecar: half of a request of 3 MB on each of 100 streams of four connections',
  against: 'sidecar',
  run: async (attacker) => {
    const half = Buffer.alloc(1.5 * 1024 * 1024)
    half.writeUInt32BE(2 * half.length, 1)
    for (let connection = 0; connection < 4; connection++) {
      const session = connect(attacker, attacker.address(connection))
      for (let n = 0; n < 100 && !attacker.signal.aborted; n++) {
        attacker.tried += 1
        const stream = session.request(headers)
        stream.on('error', () => undefined)
        stream.on('close', () => {
          if (!attacker.signal.aborted) attacker.refused += 1
        })
        stream.write(half)
        if (n % 10 === 9) await attacker.pause(10)
      }
    }
    await attacker.wait()
  },
}

const resets: Attack = {
  name: 'grpc-resets',
  about: 'a caller of the sidecar: calls that are taken back at once',
  against: 'sidecar',
  run: async (attacker) => {
    const message = frame(attacker.target.customerId, attacker.target.featureId)
    await attacker.repeat(4, async (_, caller) => {
      const session = connect(attacker, attacker.address(caller))
      for (let n = 0; !attacker.signal.aborted && !session.destroyed && !session.closed; n++) {
        attacker.tried += 1
        const stream = session.request(headers)
        stream.on('error', () => undefined)
        stream.end(message)
        stream.close(constants.NGHTTP2_CANCEL)
        if (n % 50 === 49) await attacker.pause(1)
      }
      if (!attacker.signal.aborted) attacker.refused += 1
    })
  },
}

export const callAttacks: readonly Attack[] = [largeMessages, brokenText, unknownCustomers, openStreams, halfRequests, resets]
