import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StartError } from '../../../src/platform/health.js';
import { checksumOf, isUnchanged, readMigrations } from '../../../src/platform/migrations.js';
describe('readMigrations', () => {
    let directory;
    beforeEach(async () => {
        directory = await mkdtemp(join(tmpdir(), 'migrations-'));
    });
    afterEach(() => rm(directory, { recursive: true }));
    const write = async (name, script) => {
        await mkdir(join(directory, name), { recursive: true });
        if (script !== undefined)
            await writeFile(join(directory, name, 'migration.sql'), script);
    };
    const failure = async () => readMigrations(directory).then(() => expect.fail('was not refused'), (error) => error);
    it('answers them in order and leaves files such as migration_lock.toml alone', async () => {
        await write('20260201000000_b', 'select 2');
        await write('20260101000000_a', 'select 1');
        await writeFile(join(directory, 'migration_lock.toml'), '');
        expect(await readMigrations(directory)).to.deep.equal([
            { name: '20260101000000_a', script: 'select 1', breakingReason: null, isTransactional: true },
            { name: '20260201000000_b', script: 'select 2', breakingReason: null, isTransactional: true },
        ]);
    });
    const marks = [
        ['-- CreateTable\n', null, true],
        ['-- breaking: drops a column \n', 'drops a column', true],
        ['-- Breaking: drops a column\r\n', 'drops a column', true],
        ['-- no transaction\n', null, false],
        ['-- breaking: a: b\n-- no transaction\n-- AlterTable\n', 'a: b', false],
        ['-- breaking the rule of three\n', null, true],
        ['select 0;\n-- breaking: too late\n-- no transaction\n', null, true],
    ];
    for (const [head, breakingReason, isTransactional] of marks) {
        it(`reads the marks of ${JSON.stringify(head)}`, async () => {
            await write('1_x', `${head}select 1;`);
            expect((await readMigrations(directory))[0]).to.deep.include({ breakingReason, isTransactional });
        });
    }
    it('refuses a breaking mark without a reason', async () => {
        await write('1_x', '-- breaking:\nselect 1');
        const error = await failure();
        expect(error).to.be.instanceOf(StartError);
        expect(error.message).to.equal('migration 1_x is marked breaking without a reason: write "-- breaking: <why>"');
    });
    it('refuses a folder without a script', async () => {
        await write('1_x');
        expect((await failure()).message).to.match(/^migration 1_x has no readable migration.sql/);
    });
    it('refuses a directory that is missing or empty', async () => {
        expect((await failure()).message).to.equal(`there are no migrations in ${directory}: deploy the prisma folder together with dist`);
    });
});
describe('isUnchanged', () => {
    it('tells an edit from a checkout that rewrote line ends', () => {
        const checksum = checksumOf('a\nb\n');
        expect(isUnchanged('a\nb\n', checksum)).to.equal(true);
        expect(isUnchanged('a\r\nb\r\n', checksum)).to.equal(true);
        expect(isUnchanged('a\nb\nc\n', checksum)).to.equal(false);
    });
    it('knows a script that was applied with Windows line ends', () => {
        expect(isUnchanged('a\nb\n', checksumOf('a\r\nb\r\n'))).to.equal(true);
    });
});
//# sourceMappingURL=migrations.test.js.map