// A program of the benchmark of tenants: as much of everything as the platform takes from one environment, on its line.
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection, postRequest } from './load/http-connection.js'
import { EventCall } from './metering/event-calls.js'

/** Of a call that was refused, or of one that the platform answers at once. */
const pauseMs = 20

interface Told {
  url: string
  serverKey: string
  /** Whether it is to be loud from now on. */
  isLoud: boolean
}

let isLoud = false
let hasBegun = false

process.once('disconnect', () => process.exit(0))
process.on('message', (told: Told) => {
  isLoud = told.isLoud
  if (!hasBegun) begin(told)
  hasBegun = true
})

function begin({ url, serverKey }: Told): void {
  const headers = { 'x-api-key': serverKey }
  const post = (query: string, variables: object) => postRequest('/graphql', headers, JSON.stringify({ query, variables }))
  const usage = { customerId: 'customer-0', featureId: 'calls', value: 1 }
  const bulk = post('mutation ($input: ReportUsageBulkInput!) { reportUsageBulk(input: $input) { currentUsage } }', {
    input: { usages: Array(1_000).fill(usage) },
  })
  const one = post('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }', { input: usage })
  const check = post('query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted currentUsage } }', {
    query: { customerId: 'customer-0', featureId: 'calls' },
  })
  const callers: [count: number, make: (caller: number) => () => Buffer][] = [
    [15, () => () => bulk],
    [
      15,
      () => {
        const call = new EventCall(serverKey, 1)
        return () => {
          call.renewKeys()
          return call.request
        }
      },
    ],
    [32, () => () => one],
    [16, () => () => check],
  ]
  for (const [count, make] of callers) for (let caller = 0; caller < count; caller++) void call(new HttpConnection(url), make(caller))
}

async function call(connection: HttpConnection, next: () => Buffer): Promise<void> {
  for (;;) {
    if (!isLoud) {
      await sleep(pauseMs)
      continue
    }
    const answer = await connection.send(next()).catch(() => 'errors')
    // Who is refused is not to be busy with being refused: it is the work that is to be loud.
    if (answer.includes('"errors"') || answer === 'errors') await sleep(pauseMs)
  }
}
