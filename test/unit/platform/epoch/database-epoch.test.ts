import { expect } from 'chai'
import type pg from 'pg'
import { DatabaseEpoch } from '../../../../src/platform/epoch/database-epoch.js'

describe('the epoch of the database', () => {
  const answering = (answer: () => unknown) => ({ query: async () => answer() }) as unknown as pg.Pool
  const saying = (epoch: string | null) => answering(() => ({ rows: [{ epoch }] }))
  const failing = (code: string) =>
    answering(() => {
      throw Object.assign(new Error(code), { code })
    })

  let lines: string[]
  let changes: string[]
  let epoch: DatabaseEpoch

  beforeEach(() => {
    lines = []
    changes = []
    epoch = new DatabaseEpoch((_facts, line) => void lines.push(line))
    epoch.onChange(() => void changes.push(epoch.current))
  })

  it('is what it is from the first connection on, and changes with the history', async () => {
    expect(epoch.current).to.equal('')
    for (const said of ['7-1', '7-1', '7-2', '7-2', '8-1']) await epoch.ask(saying(said))
    expect(epoch.current).to.equal('8-1')
    expect(changes).to.deep.equal(['7-2', '8-1'])
    expect(lines).to.have.length(2)
  })

  it('stays what it was while the database is away, or a standby answers', async () => {
    await epoch.ask(saying('7-1'))
    for (const other of [failing('ECONNREFUSED'), failing('57P03'), saying(null), answering(() => ({ rows: [] }))]) await epoch.ask(other)
    expect(epoch.current).to.equal('7-1')
    expect([changes, lines]).to.deep.equal([[], []])
  })

  it('says once that the database does not tell it', async () => {
    for (const code of ['42501', '42883', '0A000', '42501']) await epoch.ask(failing(code))
    expect(lines).to.have.length(1)
    expect(epoch.current).to.equal('')
  })
})
