import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { Ports } from '../../../src/local/processes/ports.js'
import { exampleBody } from '../../../src/notifications/model/catalog.js'
import { newEndpointSecret } from '../../../src/notifications/webhooks/secrets.js'
import { eventually } from '../../support/eventually.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const recipe = /```js receiver\n([\s\S]*?)```/.exec(readFileSync(`${root}src/web/docs/webhooks.md`, 'utf8'))![1]!

describe('the receiver of the documentation', () => {
  it('takes what is signed, once, and refuses everything else', async function () {
    this.timeout(20_000)
    const ports = new Ports()
    const port = await ports.take()
    const secret = newEndpointSecret()
    const child = spawn(process.execPath, ['--input-type=module', '--eval', recipe], {
      cwd: root,
      env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
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
      await eventually('it to be worked off', () => output.includes('customer.created'))
      expect(output.trim().split('\n')).to.have.lengthOf(1)
    } finally {
      child.kill()
      ports.release()
    }
  })
})
