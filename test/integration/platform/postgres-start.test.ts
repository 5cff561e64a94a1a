import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

const moduleAt = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)

/** In a process of its own, as Prisma loads its compiler once in each. Prints how many modules of WebAssembly there are before the first query and after it. */
const program = `
  let modules = 0
  const { Module } = WebAssembly
  WebAssembly.Module = function (...args) { modules += 1; return Reflect.construct(Module, args, Module) }
  const { connectPostgres } = await import(${moduleAt('platform/postgres.js')})
  const { silentLogger } = await import(${moduleAt('platform/logger.js')})
  const { Life } = await import(${moduleAt('platform/process.js')})
  const life = new Life('start', silentLogger())
  const { prisma } = await connectPostgres(life, process.env.DATABASE_URL, { poolSize: 1 })
  const before = modules
  await prisma.environment.findMany()
  console.log(JSON.stringify({ before, after: modules }))
  await life.stop()
`

describe('a process that has connected to PostgreSQL', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  it('has all that its first query needs loaded', async function () {
    this.timeout(60_000)
    const env = { ...process.env, DATABASE_URL: database.url }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env })
    expect(JSON.parse(stdout)).to.deep.equal({ before: 1, after: 1 })
  })
})
