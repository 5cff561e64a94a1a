import { expect } from 'chai';
import { Problem } from '../../../src/kernel/problem.js';
import { silentLogger } from '../../../src/platform/logger.js';
import { openPostgres } from '../../../src/platform/postgres.js';
import { Life } from '../../../src/platform/process.js';
import { createTestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
describe('a connection that PostgreSQL cuts', () => {
    let database;
    before(async () => {
        database = await createTestDatabase();
    });
    after(() => database.drop());
    it('fails the next query of its user as an outage, ends no process, and leaves the pool usable', async () => {
        const life = new Life('postgres', silentLogger());
        try {
            const { pool } = openPostgres(life, database.url, { poolSize: 2 });
            const client = await pool.connect();
            // Between two queries nobody waits for an answer that could fail.
            const lost = new Promise((resolve) => client.once('end', resolve));
            const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
            await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
            await lost;
            const failure = await client.query('SELECT 1').catch((error) => error);
            client.release(failure);
            expect(Problem.from(failure)).to.include({ code: 'UNAVAILABLE', isRetryable: true });
            await eventually('the pool to serve', async () => (await pool.query('SELECT 1')).rowCount === 1);
        }
        finally {
            expect(await life.stop()).to.deep.equal([]);
        }
    });
});
//# sourceMappingURL=postgres.test.js.map