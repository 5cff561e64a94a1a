import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { Ports } from '../../../src/local/processes/ports.js'
import { exampleBody } from '../../../src/notifications/model/catalog.js'
import { newEndpointSecret } from '../../../src/notifications/webhooks/secrets.js'
import { eventually } from '../../support/eventually.js'
import { openWebhookBench } from './fixture.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const recipe = /```js receiver\n([\s\S]*?)```/.exec(readFileSync(`${root}src/web/docs/webhooks.md`, 'utf8'))![1]!

/** Saved and started as the page says. */
function startReceiver(port: number, secret: string) {
  const folder = mkdtempSync(join(root, 'dist/receiver-'))
  writeFileSync(join(folder, 'receiver.mjs'), recipe)
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = { output: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (said.output += text))
  const stop = () => {
    child.kill()
    rmSync(folder, { recursive: true })
  }
  return { said, stop }
}

describe('the receiver of the documentation', function () {
  this.timeout(60_000)
  const ports = new Ports()
  after(() => ports.release())

  it('hears of what the platform sends', async () => {
    const bench = await openWebhookBench()
    const port = await ports.take()
    const environmentId = await bench.createEnvironment()
    const { secret } = await bench.webhooks.create(environmentId, { url: `http://127.0.0.1:${port}/` })
    const { said, stop } = startReceiver(port, secret)
    try {
      await bench.startWorker()
      await bench.customers.create(environmentId, { refId: 'acme' })
      await eventually('it to be worked off', () => said.output.includes('customer.created 1 {"customer":'), 30_000)
    } finally {
      stop()
      expect(await bench.closeAll()).to.deep.equal([])
    }
  })

  it('takes what is signed, once, and refuses everything else', async () => {
    const port = await ports.take()
    const secret = newEndpointSecret()
    const { said, stop } = startReceiver(port, secret)
    try {
      const post = async (body: string, headers: Record<string, string>) =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status
      await eventually('it to listen', () => post('', {}).catch(() => false))
      const id = randomUUID()
      const body = JSON.stringify({ ...exampleBody('customer.created'), id })
      const signed = (by: string, at = new Date()) => ({
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(by).sign(id, at, body),
      })
      expect(await post(body, signed(secret))).to.equal(204)
      expect(await post(body, signed(secret)), 'a repeat').to.equal(204)
      const rotated = {
        ...signed(secret),
        'webhook-signature': `${signed(newEndpointSecret())['webhook-signature']} ${signed(secret)['webhook-signature']}`,
      }
      expect(await post(body, rotated), 'two signatures').to.equal(204)
      expect(await post(body, signed(newEndpointSecret())), 'another secret').to.equal(400)
      expect(await post(`${body} `, signed(secret)), 'another body').to.equal(400)
      expect(await post(body, signed(secret, new Date(Date.now() - 3_600_000))), 'an old one').to.equal(400)
      const large = await post('x'.repeat(300_000), signed(secret)).catch(() => 'cut off')
      expect(large, 'what is too large is not read').to.equal('cut off')
      await eventually('it to be worked off', () => said.output.includes('customer.created'))
      expect(said.output.trim().split('\n')).to.have.lengthOf(1)
    } finally {
      stop()
    }
  })
})
