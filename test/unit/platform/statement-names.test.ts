import { expect } from 'chai'
import { statementNames } from '../../../src/platform/statement-names.js'

describe('names of statements', () => {
  it('are given to what adds rows and comes again and again, each to one text', () => {
    const nameOf = statementNames()
    const namesOf = (sql: string) => [1, 2, 3, 4].map(() => nameOf({ sql }))
    expect(namesOf('INSERT INTO a VALUES ($1)')).to.deep.equal(['', '', 'prisma_0', 'prisma_0'])
    expect(namesOf('\n  WITH asked AS (SELECT 1) INSERT INTO a SELECT * FROM asked')).to.deep.equal(['', '', 'prisma_1', 'prisma_1'])
    for (const sql of ['SELECT * FROM inserts', 'UPDATE a SET b = $1', 'WITH asked AS (SELECT 1) SELECT * FROM asked', 'BEGIN'])
      expect(namesOf(sql), sql).to.deep.equal(['', '', '', ''])
  })

  it('are few, however many texts there are', () => {
    const nameOf = statementNames()
    const names = new Set<string>()
    for (let n = 0; n < 5_000; n++) for (let time = 0; time < 4; time++) names.add(nameOf({ sql: `INSERT INTO a VALUES (${n})` }))
    expect(names.size).to.equal(101)
    for (let n = 0; n < 5_000; n++) nameOf({ sql: `INSERT INTO b VALUES (${n})` })
    expect(nameOf({ sql: 'INSERT INTO a VALUES (0)' })).to.equal('prisma_0')
  })
})
