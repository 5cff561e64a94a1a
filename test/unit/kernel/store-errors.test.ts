import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { isTransient, type StoreError, storeErrorOf, tookTooLong } from '../../../src/kernel/store-errors.js'

const failure = (message: string, more: object = {}) => Object.assign(new Error(message), more)
const ofPostgres = (code: string) => failure('as PostgreSQL says it', { code })
const ofPrisma = (code: string, originalCode: string) => failure('Raw query failed', { code, cause: { originalCode } })

const cases: [what: string, thrown: Error, kind: StoreError | null][] = [
  ['a connection that cannot be made', ofPostgres('08001'), 'away'],
  ['a connection that broke', ofPostgres('08006'), 'away'],
  ['a transaction of which it is not known whether it was committed', ofPostgres('08007'), 'away'],
  ['a statement of which it is not known whether it was completed', ofPostgres('40003'), 'away'],
  ['a server that is shut down', ofPostgres('57P01'), 'away'],
  ['a server that has crashed', ofPostgres('57P02'), 'away'],
  ['a server that starts', ofPostgres('57P03'), 'away'],
  ['a database that was dropped', ofPostgres('57P04'), 'away'],
  ['a session that was idle for too long', ofPostgres('57P05'), 'away'],
  ['a transaction that stood still for too long', ofPostgres('25P03'), 'away'],
  ['a transaction that took too long', ofPostgres('25P04'), 'away'],
  ['a read-only server', ofPostgres('25006'), 'busy'],
  ['a full disk', ofPostgres('53100'), 'busy'],
  ['no memory', ofPostgres('53200'), 'busy'],
  ['too many connections', ofPostgres('53300'), 'busy'],
  ['a lock that is held', ofPostgres('55P03'), 'busy'],
  ['an object in use', ofPostgres('55006'), 'busy'],
  ['a statement that was canceled', ofPostgres('57014'), 'busy'],
  ['an error of the disk', ofPostgres('58030'), 'busy'],
  ['a serialization failure', ofPostgres('40001'), 'lost race'],
  ['a deadlock', ofPostgres('40P01'), 'lost race'],
  ['a key that is taken', ofPostgres('23505'), 'taken'],
  ['a foreign key', ofPostgres('23503'), null],
  ['a code of another kind that begins like one', ofPostgres('08006-1'), null],
  ['a code of another kind that ends like one', ofPostgres('08-12345'), null],
  ['a number out of range', ofPostgres('22003'), null],
  ['a transaction that has failed before', ofPostgres('25P02'), null],
  ['a mistake in a statement', ofPostgres('42601'), null],
  ['no right to do it', ofPostgres('42501'), null],
  ['a wrong password', ofPostgres('28P01'), null],
  ['a statement that is too deep', ofPostgres('54001'), null],
  ['an error in the server', ofPostgres('XX000'), null],
  ['a read-only server, behind Prisma', ofPrisma('P2010', '25006'), 'busy'],
  ['a deadlock, behind Prisma', ofPrisma('P2010', '40P01'), 'lost race'],
  [
    'a server that starts, in a text of Prisma',
    failure('Database error. Code: `57P03`. Message: `starting up`', { code: 'P2039' }),
    'away',
  ],
  ['a raw query of Prisma that is wrong', ofPrisma('P2010', '42601'), null],
  ['Prisma without a server', failure('no server', { code: 'P1001' }), 'away'],
  [
    'Prisma at a server without a connection left',
    failure('Too many database connections opened: sorry, too many clients already', { code: 'P2037' }),
    'busy',
  ],
  ['Prisma without a connection left', failure('none left', { code: 'P2024' }), 'busy'],
  ['a record that Prisma does not find', failure('not found', { code: 'P2025' }), null],
  ['a refused connection', failure('connect', { code: 'ECONNREFUSED' }), 'away'],
  ['a name that is not known', failure('getaddrinfo', { code: 'ENOTFOUND' }), 'away'],
  ['a connection that was cut', failure('Connection terminated unexpectedly'), 'away'],
  ['a pool that is used up', failure('timeout exceeded when trying to connect'), 'away'],
  ['a connection that cannot be used any more', failure('Client has encountered a connection error and is not queryable'), 'away'],
  ['a Redis that is away', failure('Connection is closed.'), 'away'],
  ['a Redis that does not answer', failure('Command timed out'), 'away'],
  ['a cluster that is not connected', failure("Cluster isn't ready and enableOfflineQueue options is false"), 'away'],
  ['a cluster that moves slots', failure('Too many Cluster redirections. Last error: ReplyError: MOVED 1 127.0.0.1:7000'), 'away'],
  ['a cluster of which no node is there', failure('None of startup nodes is available'), 'away'],
  ['a cluster of which no node answers', failure('Failed to refresh slots cache.'), 'away'],
  ['a Redis that starts', failure('LOADING Redis is loading the dataset in memory'), 'away'],
  ['a Redis that was demoted', failure("READONLY You can't write against a read only replica."), 'busy'],
  ['a Redis that is full', failure("OOM command not allowed when used memory > 'maxmemory'."), 'busy'],
  ['a Redis without the right', failure('NOPERM this user has no permissions'), null],
  ['a mistake of ours', new TypeError('x is not a function'), null],
]

describe('what an error of a store says about sending the same again', () => {
  for (const [what, thrown, kind] of cases) {
    it(`${what}: ${kind ?? 'it fails again'}`, () => {
      expect(storeErrorOf(thrown)).to.equal(kind)
      const isExpectedToPass = kind !== null && kind !== 'taken'
      expect(isTransient(thrown)).to.equal(isExpectedToPass)
      expect(Problem.from(thrown).code).to.equal(isExpectedToPass ? 'UNAVAILABLE' : 'INTERNAL')
    })
  }

  it('nothing, when it is no error', () => {
    for (const thrown of [null, undefined, 'text', { code: '25006' }]) expect(storeErrorOf(thrown)).to.equal(null)
  })
})

describe('a statement that took too long', () => {
  it('is told from others that cannot be done now, wherever its code is', () => {
    for (const error of [ofPostgres('57014'), ofPrisma('P2010', '57014')]) expect(tookTooLong(error)).to.equal(true)
    for (const error of [ofPostgres('55P03'), ofPostgres('08006'), failure('57014'), '57014', null])
      expect(tookTooLong(error)).to.equal(false)
  })
})
