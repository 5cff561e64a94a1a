import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { runAdmin } from '../../../src/local/admin/command-line.js'
import { prepareExample } from '../../../src/local/example.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

describe('the example environment', () => {
  let database: TestDatabase
  let dataDir: string
  const prepare = () => prepareExample({ DATABASE_URL: database.url, dataDir })

  beforeEach(async () => {
    database = await createTestDatabase()
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-example-'))
  })
  afterEach(async () => {
    rmSync(dataDir, { recursive: true })
    await database.drop()
  })

  async function admin(...args: string[]) {
    const printed: string[] = []
    const print = (text: string) => void printed.push(text)
    expect(
      await runAdmin({ args: [...args, '--json'], databaseUrl: database.url, folder: dataDir, print, printError: print }),
      printed.join(),
    ).to.equal(0)
    return JSON.parse(printed.join(''))
  }

  it('has a catalog, a server key and an operator key', async () => {
    const example = await prepare()
    expect(example.environmentRefId).to.equal('development')
    expect(example.serverApiKey).to.match(/^server-/)
    expect(example.operatorKey).to.match(/^operator-[0-9A-Za-z]{40}$/)
    expect((await admin('environment', 'list'))[0]).to.include({
      id: example.environmentId,
      refId: 'development',
      hasPersistentCache: true,
    })
    const { plans } = await admin('catalog', 'export')
    expect(plans.map(({ refId }: { refId: string }) => refId)).to.deep.equal(['business', 'free', 'team'])
  })

  it('stays the same when it is prepared again', async () => {
    const first = await prepare()
    expect(await prepare()).to.deep.equal(first)
    expect(await admin('key', 'list')).to.have.length(1)
    expect(await admin('environment', 'list')).to.have.length(1)
  })

  it('keeps its keys where only their owner can read them', async () => {
    const { serverApiKey } = await prepare()
    const file = join(dataDir, 'credentials.json')
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.include({ serverApiKey })
  })

  it('is not reset after somebody has edited its catalog', async () => {
    await prepare()
    writeFileSync(join(dataDir, 'mine.yaml'), 'features: [{ refId: sso, type: BOOLEAN, displayName: Mine }]')
    await admin('catalog', 'apply', 'mine.yaml')
    await prepare()
    const { features } = await admin('catalog', 'export')
    expect(features.find(({ refId }: { refId: string }) => refId === 'sso').displayName).to.equal('Mine')
  })

  it('gets another key when the one that was kept is revoked, of another database or damaged', async () => {
    const first = await prepare()
    await admin('key', 'revoke', (await admin('key', 'list'))[0].id)
    const second = await prepare()
    expect(second.serverApiKey).not.to.equal(first.serverApiKey)
    expect(second.operatorKey).to.equal(first.operatorKey)

    const before = database
    database = await createTestDatabase()
    await before.drop()
    const third = await prepare()
    expect(third.serverApiKey).not.to.equal(second.serverApiKey)

    writeFileSync(join(dataDir, 'credentials.json'), '{"serverApiKey": "serv')
    expect((await prepare()).serverApiKey).not.to.equal(third.serverApiKey)
  })
})
