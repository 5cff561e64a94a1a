import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { effort } from '../../support/effort.js'
import { eventually } from '../../support/eventually.js'
import { WebhookReceiver } from '../../support/webhook-receiver.js'
import { openWebhookBench, type WebhookBench } from './fixture.js'

const waiting = 50_000 * effort

describe('tens of thousands of events that wait for a dead endpoint', function () {
  this.timeout(180_000)
  let bench: WebhookBench
  let well: WebhookReceiver
  let dead: WebhookReceiver

  before(async () => {
    bench = await openWebhookBench()
    well = await new WebhookReceiver().listen()
    dead = await new WebhookReceiver().listen()
    // Takes every request and answers none.
    dead.answer = () => undefined
  })
  after(async () => {
    await well.close()
    await dead.close()
    expect(await bench.closeAll()).to.deep.equal([])
  })

  const residentMb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

  it('take no memory of the worker, and another endpoint hears within two seconds', async () => {
    const environmentId = await bench.createEnvironment()
    await bench.webhooks.create(environmentId, { url: dead.url, eventTypes: ['import.finished'] })
    for (let from = 0; from < waiting; from += 10_000)
      await bench.prisma.$executeRaw`
      INSERT INTO notification_event (environment_id, id, type, payload_version, payload, occurred_at)
      SELECT ${environmentId}::uuid, gen_random_uuid(), 'import.finished', 1, jsonb_build_object('importId', n::text, 'kind', 'CUSTOMERS', 'total', 1, 'failed', 0), now()
      FROM generate_series(1, 10000) AS n`
    await bench.webhooks.create(environmentId, { url: well.url, eventTypes: ['customer.created'] })
    const { child, metrics } = await bench.startWorker()
    await eventually('the dead one to be asked', () => dead.heard.length >= 8)
    const atFirst = residentMb(child.pid!)
    const latencies: number[] = []
    for (let n = 0; n < 100; n++) {
      const startedAt = performance.now()
      await bench.customers.create(environmentId, { refId: `customer-${n}` })
      const committedAt = performance.now()
      await eventually('it to be heard', () => well.heard.length === n + 1)
      latencies.push(well.heard.at(-1)!.at - Math.max(startedAt, committedAt - 50))
      await sleep(30)
    }
    const p99 = latencies.toSorted((a, b) => a - b)[98]!
    expect(p99).to.be.below(2_000)
    expect(residentMb(child.pid!) - atFirst).to.be.below(40)
    expect(await metrics()).to.match(new RegExp(`tollgate_webhook_deliveries_pending\\{[^}]*\\} ${waiting}\\n`))
  })
})
