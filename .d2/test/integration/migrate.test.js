import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import { migrate } from '../../src/migrate.js';
import { explainDatabaseError } from '../../src/platform/database.js';
import { StartError } from '../../src/platform/health.js';
import { assertSchemaCompatible } from '../../src/platform/migrations.js';
const adminUrl = process.env.TEST_DATABASE_URL ?? '';
describe('migrate', function () {
    this.timeout(20_000);
    let admin;
    let directory;
    let database;
    let lines;
    let cleanups;
    before(async () => {
        if (!adminUrl)
            throw new Error('TEST_DATABASE_URL is not set: run the tests with npm test');
        admin = new pg.Client({ connectionString: adminUrl });
        await admin.connect();
    });
    after(() => admin.end());
    beforeEach(async () => {
        directory = await mkdtemp(join(tmpdir(), 'migrations-'));
        database = `migrate_${process.pid}_${Math.random().toString(36).slice(2)}`;
        lines = [];
        cleanups = [() => rm(directory, { recursive: true }), () => admin.query(`drop database if exists ${database} with (force)`)];
    });
    afterEach(async () => {
        for (const cleanup of cleanups.reverse())
            await cleanup();
    });
    /** The test server's URL with parts replaced. */
    const urlOf = (parts = {}) => Object.assign(new URL(adminUrl), { pathname: database, ...parts }).href;
    const write = async (name, script) => {
        await mkdir(join(directory, name), { recursive: true });
        await writeFile(join(directory, name, 'migration.sql'), script);
    };
    const log = (message, fields = {}) => void lines.push({ message, ...fields });
    const run = (options = {}) => migrate({ databaseUrl: urlOf(), directory, log, databaseWaitSeconds: 0.1, ...options }).then(({ applied }) => applied);
    /** The sentence that a call ends with. */
    const refusal = (call) => call.then(() => expect.fail('was not refused'), (error) => {
        expect(error).to.be.instanceOf(StartError);
        return error.message;
    });
    const query = async (text, url = urlOf()) => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        try {
            return (await client.query(text)).rows;
        }
        finally {
            await client.end();
        }
    };
    const withClient = async (work) => {
        const client = new pg.Client({ connectionString: urlOf() });
        await client.connect();
        return work(client).finally(() => client.end());
    };
    const makeDatabase = (owner) => admin.query(`create database ${database}${owner ? ` owner ${owner}` : ''}`);
    const makeRole = async () => {
        const role = `${database}_role`;
        await admin.query(`create role ${role} login password 'correct-horse'`);
        cleanups.unshift(() => admin.query(`drop role ${role}`));
        return role;
    };
    describe('applies', () => {
        it('every migration in order to a database that it creates, and nothing the second time', async () => {
            await write('2_b', 'insert into a values (2)');
            await write('1_a', 'create table a (n int); insert into a values (1)');
            expect(await run()).to.deep.equal(['1_a', '2_b']);
            expect(await query('select n from a order by n')).to.deep.equal([{ n: 1 }, { n: 2 }]);
            expect(await run()).to.deep.equal([]);
            expect(await query('select count(*)::int as rows from _prisma_migrations')).to.deep.equal([{ rows: 2 }]);
        });
        it('only what is new', async () => {
            await write('1_a', 'create table a (n int)');
            await run();
            await write('2_b', 'create table b (n int)');
            expect(await run()).to.deep.equal(['2_b']);
        });
        it('each migration once when several hosts run at the same time', async () => {
            await write('1_a', 'create table a (n int); select pg_sleep(0.2)');
            await write('2_b', 'insert into a values (1)');
            const answers = await Promise.all(Array.from({ length: 5 }, () => run()));
            expect(answers.flat().sort()).to.deep.equal(['1_a', '2_b']);
            expect(await query('select n from a')).to.deep.equal([{ n: 1 }]);
            expect(lines.map(({ message }) => message)).to.include('waiting for another host that is migrating');
        });
        it('a migration marked "no transaction" statement by statement', async () => {
            await write('1_a', 'create table a (n int)');
            await write('2_b', '-- no transaction\ncreate index concurrently a_n on a (n);\ncreate index concurrently a_n2 on a (n, (n + 1));');
            expect(await run()).to.deep.equal(['1_a', '2_b']);
            expect(await query(`select count(*)::int as n from pg_indexes where tablename = 'a'`)).to.deep.equal([{ n: 2 }]);
        });
        it('function bodies and semicolons in literals', async () => {
            await write('1_a', `create function f() returns text language plpgsql as $$ begin return 'x;y'; end; $$;`);
            expect(await run()).to.deep.equal(['1_a']);
            expect(await query('select f()')).to.deep.equal([{ f: 'x;y' }]);
        });
        it('long migrations although the role limits its statements', async () => {
            const role = await makeRole();
            await makeDatabase(role);
            await admin.query(`alter role ${role} set statement_timeout = 50`);
            await write('1_a', 'select pg_sleep(0.2)');
            expect(await run({ databaseUrl: urlOf({ username: role, password: 'correct-horse' }) })).to.deep.equal(['1_a']);
        });
    });
    describe('a migration that fails', () => {
        const failing = 'create table a (n int);\nselect 1 / 0;';
        it('leaves nothing behind, says where, and is recorded', async () => {
            await write('1_a', failing);
            expect(await refusal(run())).to.match(/^migration 1_a failed \(division by zero\): correct it, run `npx prisma migrate resolve --rolled-back 1_a`/);
            expect(await query(`select to_regclass('a') as a`)).to.deep.equal([{ a: null }]);
            expect(await query('select migration_name, finished_at, rolled_back_at, applied_steps_count, logs from _prisma_migrations')).to.deep.equal([
                {
                    migration_name: '1_a',
                    finished_at: null,
                    rolled_back_at: null,
                    applied_steps_count: 0,
                    logs: 'division by zero\nSQLSTATE 22012',
                },
            ]);
        });
        it('names the line of a mistake', async () => {
            await write('1_a', `select 1; -- é\n\nselect 'ü',\n  nothing;`);
            expect(await refusal(run())).to.include('failed (column "nothing" does not exist, line 4)');
            await query('drop table _prisma_migrations');
            await write('1_a', '-- no transaction\nselect 1;\n\nselect\n  nothing;');
            expect(await refusal(run())).to.include('failed (column "nothing" does not exist, line 5)');
        });
        it('blocks the next run, which says what to do, until it is resolved', async () => {
            await write('1_a', failing);
            await refusal(run());
            await write('1_a', 'create table a (n int)');
            expect(await refusal(run())).to.match(/^migration 1_a failed on 20\d\d-\S+Z \(division by zero\): correct it, run `npx prisma migrate resolve --rolled-back 1_a`/);
            await query('update _prisma_migrations set rolled_back_at = now()');
            expect(await run()).to.deep.equal(['1_a']);
        });
        it('keeps the statements before it when it is marked "no transaction"', async () => {
            await write('1_a', `-- no transaction\n${failing}`);
            await refusal(run());
            expect(await query('select count(*)::int as n from a')).to.deep.equal([{ n: 0 }]);
            expect(await refusal(run())).to.include('migration 1_a failed on');
        });
        it('is not recorded when it was only interrupted: the next run begins again', async () => {
            await write('1_a', 'create table a (n int); select pg_sleep(30)');
            const stopped = refusal(run());
            for (;;) {
                const { rows } = await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like '%pg_sleep(30)%'`, [database]);
                if (rows.length > 0)
                    break;
                await new Promise((resolve) => setTimeout(resolve, 10));
            }
            expect(await stopped).to.match(/^migration 1_a was interrupted \(.+\) and undone: release again$/);
            await write('1_a', 'create table a (n int)');
            expect(await run()).to.deep.equal(['1_a']);
        });
        it('leaves the earlier ones applied', async () => {
            await write('1_a', 'create table a (n int)');
            await write('2_b', 'create table a (n int)');
            await refusal(run());
            expect(await query('select migration_name from _prisma_migrations where finished_at is not null')).to.deep.equal([
                { migration_name: '1_a' },
            ]);
        });
    });
    describe('differences between code and database', () => {
        beforeEach(() => write('1_a', 'create table a (n int)'));
        const forget = (name) => rm(join(directory, name), { recursive: true });
        it('warns of a migration that was edited after it was applied', async () => {
            await run();
            await write('1_a', 'create table a (n bigint)');
            expect(await run()).to.deep.equal([]);
            expect(lines.at(-1)).to.deep.equal({
                message: 'migration was edited after it was applied: put the change into a new one',
                level: 'warn',
                migration: '1_a',
            });
        });
        it('lets older code work with a newer database', async () => {
            await write('2_b', 'create table b (n int)');
            await run();
            await forget('2_b');
            expect(await run()).to.deep.equal([]);
            expect(lines.at(-1)?.migrations).to.deep.equal(['2_b']);
            await withClient((client) => assertSchemaCompatible(client, directory));
        });
        it('refuses older code beyond a breaking migration', async () => {
            await write('2_b', '-- breaking: column n moved\nalter table a drop column n');
            await run();
            await withClient((client) => assertSchemaCompatible(client, directory));
            await forget('2_b');
            const sentence = 'the database is newer than this code and beyond the breaking migration 2_b (column n moved): deploy the version that has it';
            expect(await refusal(run())).to.equal(sentence);
            expect(await withClient((client) => refusal(assertSchemaCompatible(client, directory)))).to.equal(sentence);
        });
        it('records the mark also when another tool applied the migration', async () => {
            await write('2_b', '-- breaking: column n moved\nalter table a drop column n');
            await run();
            await query('drop table schema_guard');
            expect(await run()).to.deep.equal([]);
            expect(await query('select * from schema_guard')).to.deep.equal([{ migration_name: '2_b', breaking_reason: 'column n moved' }]);
        });
        it('does not record the mark of a breaking migration that failed', async () => {
            await write('2_b', '-- breaking: column n moved\nalter table a drop column nothing');
            await refusal(run());
            expect(await query('select * from schema_guard')).to.deep.equal([]);
        });
        it('refuses a database that lacks what the code needs', async () => {
            const asked = () => withClient((client) => refusal(assertSchemaCompatible(client, directory)));
            const sentence = (what) => `the database lacks ${what}: run \`npm run release\` (node dist/src/migrate.js) with the same DATABASE_URL, then start again`;
            await makeDatabase();
            expect(await asked()).to.equal(sentence('all migrations'));
            await run();
            await write('2_b', 'select 1 / 0');
            expect(await asked()).to.equal(sentence('2_b'));
            await refusal(run());
            expect(await asked()).to.equal(sentence('2_b'));
        });
        it('refuses a database that already holds tables of somebody else', async () => {
            await makeDatabase();
            await query('create table theirs (n int)');
            expect(await refusal(run())).to.equal('the database already has tables that no migration made (theirs): point DATABASE_URL to an empty database');
            expect(await query(`select to_regclass('_prisma_migrations') as ledger`)).to.deep.equal([{ ledger: null }]);
        });
    });
    describe('a database that cannot be used', () => {
        beforeEach(() => write('1_a', 'create table a (n int)'));
        const server = new URL(adminUrl || 'postgresql://127.0.0.1').host;
        /** A server of one connection at a time that behaves like PostgreSQL up to a point. */
        const pretend = async (onConnection) => {
            let count = 0;
            const sockets = new Set();
            const fake = createServer((socket) => {
                sockets.add(socket.on('error', () => undefined));
                onConnection(socket, ++count);
            });
            await new Promise((resolve) => fake.listen(0, '127.0.0.1', resolve));
            cleanups.push(() => {
                for (const socket of sockets)
                    socket.destroy();
                return new Promise((resolve) => fake.close(resolve));
            });
            return String(fake.address().port);
        };
        const errorResponse = (code, message) => {
            const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
            const head = Buffer.from('E\0\0\0\0');
            head.writeInt32BE(fields.length + 4, 1);
            return Buffer.concat([head, fields]);
        };
        const askForPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
        it('is reached when the server is only starting', async () => {
            const port = await pretend((socket, nth) => {
                if (nth < 3)
                    return socket.once('data', () => socket.end(errorResponse('57P03', 'the database system is starting up')));
                const real = connectSocket({ host: new URL(adminUrl).hostname, port: Number(new URL(adminUrl).port || 5432) }).on('error', () => socket.destroy());
                socket.pipe(real).pipe(socket);
            });
            expect(await run({ databaseUrl: urlOf({ port, hostname: '127.0.0.1' }), databaseWaitSeconds: 10 })).to.deep.equal(['1_a']);
            expect(lines[0]).to.include({ message: 'waiting for the database', level: 'warn', reason: 'the database system is starting up' });
        });
        it('says that nobody answers, after the time given', async () => {
            const port = await pretend(() => undefined);
            await cleanups.pop()?.(); // a port that was free a moment ago
            const startedAt = performance.now();
            const sentence = await refusal(run({ databaseUrl: urlOf({ port, hostname: '127.0.0.1' }), databaseWaitSeconds: 0.5 }));
            expect(sentence).to.match(new RegExp(`^no PostgreSQL answers at 127.0.0.1:${port} \\(.*ECONNREFUSED.*\\): start it or correct DATABASE_URL$`));
            expect(performance.now() - startedAt).to.be.within(200, 3_000);
        });
        it('says that the password is wrong, without printing it', async () => {
            const port = await pretend((socket) => {
                socket.once('data', () => {
                    socket.write(askForPassword);
                    socket.once('data', () => socket.end(errorResponse('28P01', 'password authentication failed for user "ada"')));
                });
            });
            const databaseUrl = urlOf({ port, hostname: '127.0.0.1', username: 'ada', password: 'battery-staple' });
            expect(await refusal(run({ databaseUrl }))).to.equal(`PostgreSQL at 127.0.0.1:${port} refused the password of user "ada": correct DATABASE_URL`);
            expect(await refusal(run({ databaseUrl: urlOf({ port, hostname: '127.0.0.1', username: 'ada', password: '' }) }))).to.equal(`PostgreSQL at 127.0.0.1:${port} asks user "ada" for a password: add it to DATABASE_URL`);
            expect(JSON.stringify(lines)).not.to.include('battery-staple');
        });
        it('says that the user is unknown', async () => {
            await makeDatabase();
            expect(await refusal(run({ databaseUrl: urlOf({ username: 'nobody_knows' }) }))).to.match(/^PostgreSQL at \S+ refused (user|the password of user) "nobody_knows"/);
        });
        it('says that the user may not create tables', async () => {
            const role = await makeRole();
            await makeDatabase();
            expect(await refusal(run({ databaseUrl: urlOf({ username: role, password: 'correct-horse' }) }))).to.equal(`user "${role}" has no permission in database "${database}" at ${server} (permission denied for schema public): grant it, or connect as the owner`);
        });
        it('says that the user may not create the database', async () => {
            const role = await makeRole();
            expect(await refusal(run({ databaseUrl: urlOf({ username: role, password: 'correct-horse' }) }))).to.equal(`database "${database}" does not exist at ${server} and user "${role}" can't create it (permission denied to create database): create it, or use another user`);
        });
        it('says that another host holds the lock for too long', async () => {
            await makeDatabase();
            await withClient(async (client) => {
                await client.query('select pg_advisory_lock(72707369)');
                expect(await refusal(run({ lockWaitSeconds: 0.1 }))).to.equal('another host has been migrating this database for over 0.1 s: let it finish, then release again');
            });
        });
        it('says that it is read-only', async () => {
            await makeDatabase();
            await admin.query(`alter database ${database} set default_transaction_read_only = on`);
            expect(await refusal(run())).to.match(/ is read-only: point DATABASE_URL to the primary server$/);
        });
        it('is explained to a process that does not create it', async () => {
            const error = await query('select 1').catch((failure) => explainDatabaseError(failure, urlOf()));
            expect(error.message).to.equal(`database "${database}" does not exist at ${server}: run \`npm run release\` (node dist/src/migrate.js), which creates it`);
        });
        it('leaves what it does not know as it is', () => {
            const error = new TypeError('a mistake of ours');
            expect(explainDatabaseError(error, urlOf())).to.equal(error);
        });
    });
    describe('the release process', () => {
        const release = (env, ...args) => new Promise((resolve) => {
            const file = fileURLToPath(new URL('../../src/migrate.js', import.meta.url));
            execFile(process.execPath, [file, ...args], { env: { PATH: process.env.PATH, ...env } }, (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }));
        });
        it("applies this project's migrations twice in a row and says so in JSON", async () => {
            for (const isFirst of [true, false]) {
                const { code, stdout } = await release({ DATABASE_URL: urlOf() });
                expect(code, stdout).to.equal(0);
                const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
                expect(last).to.include({ level: 'info', process: 'release', msg: 'the database is up to date', database });
                expect(last.applied > 0).to.equal(isFirst);
            }
            await withClient((client) => assertSchemaCompatible(client));
        });
        it('ends with 1 and one sentence when it can not', async () => {
            const { code, stdout, stderr } = await release({
                DATABASE_URL: 'postgresql://ada:battery-staple@127.0.0.1:1/x',
                DATABASE_WAIT_SECONDS: '1',
            });
            expect(code).to.equal(1);
            expect(stderr).to.equal('');
            const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
            expect(last).to.include({
                level: 'fatal',
                msg: 'no PostgreSQL answers at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1): start it or correct DATABASE_URL',
            });
            expect(last).not.to.have.property('err');
            expect(stdout).not.to.include('battery-staple');
        });
        const configurations = [
            [
                'takes a valid configuration',
                { DATABASE_URL: 'postgresql://127.0.0.1:1/x' },
                ['--check-config'],
                0,
                'release: configuration is valid\n',
            ],
            [
                'reports every problem at once',
                { DATABASE_WAIT_SECONDS: 'soon', LOG_LEVEL: 'loud' },
                [],
                1,
                'release: the configuration has 3 problem(s)\n  DATABASE_URL is not set (PostgreSQL 15 or newer; for example postgresql://user:password@host:5432/tollgate)\n',
            ],
            [
                'wants a PostgreSQL URL',
                { DATABASE_URL: 'mysql://ada:battery-staple@h/x' },
                [],
                1,
                'DATABASE_URL must begin with postgresql:// or postgres://',
            ],
            ['wants a database name', { DATABASE_URL: 'postgresql://h' }, [], 1, 'DATABASE_URL names no database'],
            ['refuses a schema of its own', { DATABASE_URL: 'postgresql://h/x?schema=other' }, [], 1, 'DATABASE_URL asks for schema=other'],
            [
                'refuses an argument that it does not know',
                { DATABASE_URL: 'postgresql://h/x' },
                ['--chek-config'],
                1,
                "Unknown option '--chek-config'",
            ],
        ];
        for (const [title, env, args, expectedCode, output] of configurations) {
            it(title, async () => {
                const { code, stdout, stderr } = await release(env, ...args);
                expect(code).to.equal(expectedCode);
                expect(expectedCode === 0 ? stdout : stderr).to.include(output);
                expect(stdout + stderr).not.to.include('battery-staple');
            });
        }
    });
});
//# sourceMappingURL=migrate.test.js.map