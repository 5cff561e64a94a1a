import { expect } from 'chai'
import { describeStatement } from '../../../../src/platform/context/statements.js'

describe('a statement in a trace', () => {
  const cases: [text: string, operation: string, table: string | null][] = [
    ['SELECT id FROM customer WHERE ref_id = $1', 'SELECT', 'customer'],
    ['\n  select "public"."customer"."id" from "public"."customer" where 1=1', 'SELECT', 'customer'],
    ['INSERT INTO usage_rollup (a) SELECT a FROM other', 'INSERT', 'usage_rollup'],
    ['UPDATE "customer_state" SET version = $1 FROM wanted', 'UPDATE', 'customer_state'],
    ['DELETE FROM ONLY outbox_message WHERE id = ANY($1)', 'DELETE', 'outbox_message'],
    ['SELECT answer FROM count_reports(a => $1)', 'SELECT', 'count_reports'],
    ['WITH due AS (SELECT id FROM pending_batch FOR UPDATE SKIP LOCKED) SELECT * FROM due', 'SELECT', 'pending_batch'],
    ['WITH due AS (SELECT id FROM pending_batch FOR UPDATE) DELETE FROM raw_event USING due', 'DELETE', 'raw_event'],
    ['WITH a AS (INSERT INTO series (x) VALUES ($1) ON CONFLICT DO UPDATE SET x = 1 RETURNING 1) SELECT * FROM a', 'INSERT', 'series'],
    ['WITH a AS (SELECT 1 FROM b) UPDATE subscription SET status = $1', 'UPDATE', 'subscription'],
    ['-- of customers\nSELECT 1', 'SELECT', null],
    ['BEGIN', 'BEGIN', null],
    ['', 'STATEMENT', null],
  ]
  for (const [text, operation, table] of cases)
    it(`is told by what it does and to what: ${text.replace(/\s+/g, ' ') || 'nothing'}`, () => {
      expect(describeStatement(text)).to.include({ operation, table })
    })

  it('is shown without values, whoever has written them into it', () => {
    const text = `SELECT 'it''s acme', E'ac\\'me', $tag$acme's$tag$, 42, 4.2, $1, a1, "t2" -- acme
      FROM customer /* acme */ WHERE name = 'acme' LIMIT 10`
    expect(describeStatement(text).shown).to.equal('SELECT ?, ?, ?, ?, ?, $1, a1, "t2" FROM customer WHERE name = ? LIMIT ?')
  })

  it('is cut where it is long, without a long time', () => {
    const begun = process.cpuUsage()
    const { shown } = describeStatement(`SELECT ${'a, '.repeat(100_000)}'${'x'.repeat(100_000)} FROM`)
    expect(shown.length).to.equal(2_001)
    // Of the processor's time: on a busy machine others have the rest.
    expect(process.cpuUsage(begun).user / 1_000).to.be.below(1_000)
  })
})
