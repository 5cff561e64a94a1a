import { randomBytes } from 'node:crypto';
import pg from 'pg';
/** Names begin so; the test runner drops what a killed run left. */
export const testDatabasePrefix = 'tollgate_test_';
/**
 * Clones the migrated template that the test runner has prepared. Throws when it has not: tests that need services are run by `npm test`.
 */
export async function createTestDatabase() {
    const adminUrl = requiredVariable('TEST_DATABASE_URL');
    const template = requiredVariable('TEST_TEMPLATE_DATABASE');
    const name = `${testDatabasePrefix}${randomBytes(8).toString('hex')}`;
    await administer(adminUrl, (client) => client.query(`create database ${name} template ${template}`));
    return {
        url: databaseUrl(adminUrl, name),
        // Forced, so that a pool a test forgot to close fails that test's own check and not every later one.
        drop: () => administer(adminUrl, async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
    };
}
/** The URL of another database of the same server. */
export function databaseUrl(adminUrl, name) {
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    return url.href;
}
/** Runs statements on the test server's maintenance database. */
export async function administer(adminUrl, work) {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    try {
        return await work(client);
    }
    finally {
        await client.end();
    }
}
/** A variable that the test runner sets. */
export function requiredVariable(name) {
    const value = process.env[name];
    if (!value)
        throw new Error(`${name} is not set: run these tests with npm test`);
    return value;
}
//# sourceMappingURL=database.js.map