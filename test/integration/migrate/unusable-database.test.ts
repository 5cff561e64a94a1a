import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { explainDatabaseError } from '../../../src/platform/database.js'
import { requiredVariable } from '../../support/database.js'
import { refusal, Scratch } from './fixture.js'

describe('migrate: a database that cannot be used', function () {
  this.timeout(20_000)
  let scratch: Scratch

  beforeEach(async () => {
    scratch = await Scratch.open()
    await scratch.write('1_a', 'create table a (n int)')
  })
  afterEach(() => scratch.close())

  const server = new URL(requiredVariable('TEST_DATABASE_URL')).host

  /** A server of one connection at a time that behaves like PostgreSQL up to a point. */
  const pretend = async (onConnection: (socket: Socket, nth: number) => void) => {
    let count = 0
    const sockets = new Set<Socket>()
    const fake: Server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined))
      onConnection(socket, ++count)
    })
    await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
    scratch.cleanups.push(() => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => fake.close(resolve))
    })
    return String((fake.address() as { port: number }).port)
  }
  const errorResponse = (code: string, message: string) => {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
    const head = Buffer.from('E\0\0\0\0')
    head.writeInt32BE(fields.length + 4, 1)
    return Buffer.concat([head, fields])
  }
  const askForPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

  it('is reached when the server is only starting', async () => {
    const port = await pretend((socket, nth) => {
      if (nth < 3) return socket.once('data', () => socket.end(errorResponse('57P03', 'the database system is starting up')))
      const real = connectSocket({
        host: new URL(requiredVariable('TEST_DATABASE_URL')).hostname,
        port: Number(new URL(requiredVariable('TEST_DATABASE_URL')).port || 5432),
      }).on('error', () => socket.destroy())
      socket.pipe(real).pipe(socket)
    })
    expect(await scratch.run({ databaseUrl: scratch.url({ port, hostname: '127.0.0.1' }), databaseWaitSeconds: 10 })).to.deep.equal(['1_a'])
    expect(scratch.lines[0]).to.include({
      message: 'waiting for the database',
      level: 'warn',
      reason: 'the database system is starting up',
    })
  })

  it('says that nobody answers, after the time given', async () => {
    const port = await pretend(() => undefined)
    await scratch.cleanups.pop()?.() // a port that was free a moment ago
    const startedAt = performance.now()
    const sentence = await refusal(scratch.run({ databaseUrl: scratch.url({ port, hostname: '127.0.0.1' }), databaseWaitSeconds: 0.5 }))
    expect(sentence).to.match(
      new RegExp(`^no PostgreSQL answers at 127.0.0.1:${port} \\(.*ECONNREFUSED.*\\): start it or correct DATABASE_URL$`),
    )
    expect(performance.now() - startedAt).to.be.within(200, 3_000)
  })

  it('says that the password is wrong, without printing it', async () => {
    const port = await pretend((socket) => {
      socket.once('data', () => {
        socket.write(askForPassword)
        socket.once('data', () => socket.end(errorResponse('28P01', 'password authentication failed for user "ada"')))
      })
    })
    const databaseUrl = scratch.url({ port, hostname: '127.0.0.1', username: 'ada', password: 'battery-staple' })
    expect(await refusal(scratch.run({ databaseUrl }))).to.equal(
      `PostgreSQL at 127.0.0.1:${port} refused the password of user "ada": correct DATABASE_URL`,
    )
    expect(
      await refusal(scratch.run({ databaseUrl: scratch.url({ port, hostname: '127.0.0.1', username: 'ada', password: '' }) })),
    ).to.equal(`PostgreSQL at 127.0.0.1:${port} asks user "ada" for a password: add it to DATABASE_URL`)
    expect(JSON.stringify(scratch.lines)).not.to.include('battery-staple')
  })

  it('says that the user is unknown', async () => {
    await scratch.makeDatabase()
    expect(await refusal(scratch.run({ databaseUrl: scratch.url({ username: 'nobody_knows' }) }))).to.match(
      /^PostgreSQL at \S+ refused (user|the password of user) "nobody_knows"/,
    )
  })

  it('says that the user may not create tables', async () => {
    const role = await scratch.makeRole()
    await scratch.makeDatabase()
    expect(await refusal(scratch.run({ databaseUrl: scratch.url({ username: role, password: 'correct-horse' }) }))).to.equal(
      `user "${role}" has no permission in database "${scratch.database}" at ${server} (permission denied for schema public): grant it, or connect as the owner`,
    )
  })

  it('says that the user may not create the database', async () => {
    const role = await scratch.makeRole()
    expect(await refusal(scratch.run({ databaseUrl: scratch.url({ username: role, password: 'correct-horse' }) }))).to.equal(
      `database "${scratch.database}" does not exist at ${server} and user "${role}" can't create it (permission denied to create database): create it, or use another user`,
    )
  })

  it('says that another host holds the lock for too long', async () => {
    await scratch.makeDatabase()
    await scratch.withClient(async (client) => {
      await client.query('select pg_advisory_lock(72707369)')
      expect(await refusal(scratch.run({ lockWaitSeconds: 0.1 }))).to.equal(
        'another host has been migrating this database for over 0.1 s: let it finish, then release again',
      )
    })
  })

  it('says that it is read-only', async () => {
    await scratch.makeDatabase()
    await scratch.admin.query(`alter database ${scratch.database} set default_transaction_read_only = on`)
    expect(await refusal(scratch.run())).to.match(/ is read-only: point DATABASE_URL to the primary server$/)
  })

  it('is explained to a process that does not create it', async () => {
    const error = await scratch.query('select 1').catch((failure: unknown) => explainDatabaseError(failure, scratch.url()))
    expect((error as Error).message).to.equal(
      `database "${scratch.database}" does not exist at ${server}: run \`npm run release\` (node dist/src/migrate.js), which creates it`,
    )
  })

  it('leaves what it does not know as it is', () => {
    const error = new TypeError('a mistake of ours')
    expect(explainDatabaseError(error, scratch.url())).to.equal(error)
  })
})
