import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { outdatedFunctions, readFunctions, removedFunctions } from '../../../src/platform/database-functions.js'
import { StartError } from '../../../src/platform/health.js'
import { schemaFolders } from '../../../src/platform/schema.js'

describe('readFunctions', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'functions-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  const write = async (file: string, script: string) => {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), script)
  }
  const failure = () =>
    readFunctions(directory).then(
      () => expect.fail('was not refused'),
      (error: unknown) => {
        expect(error).to.be.instanceOf(StartError)
        return (error as Error).message
      },
    )

  it('names each after its file, whatever folder it is in, and leaves other files alone', async () => {
    await write('b/count-all.sql', 'select 1')
    await write('a/c/one.sql', 'select 2\r\n')
    await write('a/c/one.ts', 'export {}')
    const functions = await readFunctions(directory)
    expect(functions.map(({ name, file, script }) => ({ name, file, script }))).to.deep.equal([
      { name: 'one', file: join(directory, 'a/c/one.sql'), script: 'select 2\n' },
      { name: 'count_all', file: join(directory, 'b/count-all.sql'), script: 'select 1' },
    ])
  })

  it('refuses two files of one function', async () => {
    await write('a/one.sql', 'select 1')
    await write('b/one.sql', 'select 1')
    expect(await failure()).to.equal(
      `${join(directory, 'a/one.sql')} and ${join(directory, 'b/one.sql')} are the same function one: rename or remove one`,
    )
  })

  it('refuses a directory that is missing or has none', async () => {
    const sentence = (where: string) => `there are no functions of the database in ${where}: deploy the src folder together with dist`
    expect(await failure()).to.equal(sentence(directory))
    expect(await readFunctions(join(directory, 'none')).catch((error: Error) => error.message)).to.equal(sentence(join(directory, 'none')))
  })

  it('finds those of this project, none with a version in its name', async () => {
    const names = (await readFunctions(schemaFolders.functions)).map(({ name }) => name)
    expect(names).to.include.members(['count_reports', 'store_events', 'environment_clock', 'keep_published_version'])
    expect(names.filter((name) => /_v\d+$/.test(name))).to.deep.equal([])
  })

  it('tells what a database lacks, has with another text, or has too many', async () => {
    await write('one.sql', 'select 1')
    await write('two.sql', 'select 2')
    await write('three.sql', 'select 3')
    const functions = await readFunctions(directory)
    const checksum = functions.find(({ name }) => name === 'one')!.checksum
    const applied = new Map([
      ['zero', { identity: 'zero()', checksum: null }],
      ['one', { identity: 'one()', checksum }],
      ['two', { identity: 'two()', checksum }],
    ])
    expect(outdatedFunctions(functions, applied).map(({ name }) => name)).to.deep.equal(['three', 'two'])
    expect(removedFunctions(functions, applied)).to.deep.equal(['zero'])
  })
})
