import { execFile } from 'node:child_process'
import type { LookupAddress } from 'node:dns'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Sender } from '../../../src/notifications/webhooks/attempt.js'

const listening = (host: string, port = 0): Promise<{ server: Server; port: number; connections: () => number }> =>
  new Promise((resolve) => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    server.listen(port, host, () => resolve({ server, port: (server.address() as AddressInfo).port, connections: () => connections }))
  })

const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

/** What a name may stand for that is not of the public internet. */
const addresses = [
  ...[
    '127.0.0.1',
    '127.0.0.2',
    '127.255.255.254',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
  ].map(v4),
  ...['::1', '::', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', 'fd00::1', 'fe80::1', 'ff02::1'].map(v6),
]

/** Hosts as they may be written in a URL. */
const written = `
  127.0.0.1 127.1 0177.0.0.1 0x7f.0.0.1 0x7f000001 2130706433 017700000001 127.0.0.1. 0 0.0.0.0 0x0 localhost LOCALHOST localhost.
  [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:0:0:1] [::127.0.0.1] 127.0.0.2 127.1.1.1 127.255.255.254`
  .trim()
  .split(/\s+/)

const refusal = 'the host has no address, or one that is not of the public internet'

describe('webhooks to this machine', () => {
  let local: Awaited<ReturnType<typeof listening>>
  let everywhere: Awaited<ReturnType<typeof listening>>

  before(async () => {
    local = await listening('127.0.0.1')
    everywhere = await listening('::')
  })
  after(() => {
    local.server.close()
    everywhere.server.close()
  })
  afterEach('nobody has connected', () => {
    expect(local.connections() + everywhere.connections()).to.equal(0)
  })

  const send = async (url: string, resolve?: (host: string) => Promise<LookupAddress[]>) => {
    const sender = new Sender({ targets: 'public', ...(resolve && { resolve }) })
    try {
      return await sender.send(url, {}, '{}')
    } finally {
      sender.close()
    }
  }

  it('are refused however the host is written, and not one connection is made', async () => {
    for (const { port } of [local, everywhere])
      for (const host of written)
        for (const scheme of ['https', 'http']) {
          const outcome = await send(`${scheme}://${host}:${port}/hooks`)
          expect(outcome.statusCode, host).to.equal(null)
          expect(outcome.error, host).to.equal(refusal)
        }
  })

  it('are refused when a name stands for it, alone or among others', async () => {
    for (const { port } of [local, everywhere])
      for (const address of addresses)
        for (const all of [[address], [v4('1.1.1.1'), address], [address, v6('2606:4700:4700::1111')]]) {
          const outcome = await send(`https://hooks.example.com:${port}/`, () => Promise.resolve(all))
          expect(outcome.error, address.address).to.equal(refusal)
        }
  })

  it('are refused when the name stands for something else with each look: what was checked is what is connected to', async () => {
    let looks = 0
    const rebinding = () => Promise.resolve([v4(looks++ % 2 === 0 ? '127.0.0.1' : '127.0.0.2')])
    for (let n = 0; n < 4; n++) expect((await send(`https://hooks.example.com:${local.port}/`, rebinding)).statusCode).to.equal(null)
    expect(looks, 'one look for each connection').to.equal(4)
  })

  it('tell nothing of what was refused, nor whether a name is one of this network', async () => {
    const url = `https://hooks.example.com:${local.port}/`
    const { error } = await send(url, () => Promise.resolve([v4('127.0.0.1')]))
    expect(error).to.not.match(/127|loopback|ECONN/)
    for (const code of ['ENOTFOUND', 'ENODATA'])
      expect((await send(url, () => Promise.reject(Object.assign(new Error(`of ${url}`), { code })))).error).to.equal(error)
  })

  it('are not led there by what the environment of the process says of proxies', async () => {
    const proxy = `http://127.0.0.1:${local.port}`
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, https_proxy: proxy, http_proxy: proxy }
    const attempt = new URL('../../../src/notifications/webhooks/attempt.js', import.meta.url).href
    // No route leads to the address, and none is to be taken.
    const program = `const { Sender } = await import(${JSON.stringify(attempt)})
      const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
      for (const targets of ['public', 'loopback too'])
        for (const url of ['https://hooks.example.com:1/', 'http://localhost:1/'])
          console.log((await new Sender({ targets, resolve }).send(url, {}, '{}')).error)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env })
    const [first, ...rest] = stdout.trim().split('\n')
    expect([first, rest.length]).to.deep.equal([refusal, 3])
  })
})

describe('webhooks of a platform that lets them go to this machine', () => {
  it('get there by the address that was checked', async () => {
    const local = await listening('127.0.0.1')
    const sender = new Sender({ targets: 'loopback too', resolve: () => Promise.resolve([v4('127.0.0.1')]) })
    expect((await sender.send(`http://localhost:${local.port}/`, {}, '{}')).error).to.match(/^no connection/)
    expect(local.connections()).to.equal(1)
    expect((await sender.send(`http://hooks.example.com:${local.port}/`, {}, '{}')).error).to.match(/public internet/)
    sender.close()
    local.server.close()
  })
})
