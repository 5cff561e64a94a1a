import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { findPrograms, type ProgramName } from './programs.js'

describe('programs that a benchmark needs', () => {
  let folder: string
  let life: Life
  let usualPath: string | undefined
  let notes: string[]

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-programs-'))
    mkdirSync(join(folder, 'bin'))
    life = new Life('test', silentLogger())
    notes = []
    usualPath = process.env.PATH
    process.env.PATH = join(folder, 'bin')
  })
  afterEach(async () => {
    process.env.PATH = usualPath
    await life.stop()
    rmSync(folder, { recursive: true })
  })

  const find = (names: ProgramName[]) => findPrograms(names, { cacheFolder: join(folder, 'cache'), life, note: (line) => notes.push(line) })

  it('are those of the machine, and are told before anything starts', async () => {
    const file = join(folder, 'bin', 'h2load')
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
    const program = await find(['h2load'])
    expect(program('h2load')).to.deep.equal({ file, env: {} })
    expect(notes).to.deep.equal([`needs h2load: ${file}`])
  })

  it('are asked for in one sentence where they cannot be brought', async () => {
    const error = await find(['h2load']).catch((thrown) => thrown)
    expect(error.reason).to.equal('PROGRAM_MISSING')
    expect(error.message).to.match(/^No h2load is on this machine: install it, .*apt-get install nghttp2-client.*\.$/)
  })

  it('are not looked for by a benchmark that needs none', async () => {
    await find([])
    expect(notes).to.deep.equal([])
  })
})
