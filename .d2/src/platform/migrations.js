/**
 * What the migrations of this code and the ledger of a database say to each other.
 *
 * ledger        `_prisma_migrations`, Prisma Migrate's own table, so that the Prisma CLI and our runner can take turns
 * breaking      after this migration, older code can't work with the database; the file's head says `-- breaking: <why>`
 * schema guard  `schema_guard`, the breaking migrations that were applied: older code has no file to read the mark from
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from './health.js';
/** prisma/migrations of this checkout; the compiled file is dist/src/platform/migrations.js. */
export const migrationsDirectory = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/**
 * The migrations in a directory, in order.
 * @throws StartError when there are none, when a folder has no migration.sql, or when a breaking one does not say why
 */
export async function readMigrations(directory) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    if (names.length === 0)
        throw new StartError(`there are no migrations in ${directory}: deploy the prisma folder together with dist`);
    return Promise.all(names.sort().map(async (name) => {
        const script = await readFile(join(directory, name, 'migration.sql'), 'utf8').catch(() => {
            throw new StartError(`migration ${name} has no readable migration.sql: restore the file, or remove its folder if it was never applied`);
        });
        return { name, script, ...marksOf(name, script) };
    }));
}
/** Reads the marks among the comment lines that a script begins with. */
function marksOf(name, script) {
    let breakingReason = null;
    let isTransactional = true;
    for (const line of script.split('\n')) {
        const comment = /^\s*--\s*(.*?)\s*$/.exec(line)?.[1];
        if (comment === undefined)
            break;
        if (/^no transaction$/i.test(comment))
            isTransactional = false;
        const breaking = /^breaking(?::\s*(.*))?$/i.exec(comment);
        if (!breaking)
            continue;
        breakingReason = breaking[1] || null;
        if (!breakingReason)
            throw new StartError(`migration ${name} is marked breaking without a reason: write "-- breaking: <why>"`);
    }
    return { breakingReason, isTransactional };
}
/** Prisma's checksum of a script. */
export const checksumOf = (script) => createHash('sha256').update(script).digest('hex');
/** Whether a script is the one that was applied. Line ends may differ: a checkout may rewrite them. */
export function isUnchanged(script, checksum) {
    const unix = script.replaceAll('\r\n', '\n');
    return [script, unix, unix.replaceAll('\n', '\r\n')].some((text) => checksumOf(text) === checksum);
}
/** Reads ledger and schema guard; a database without them has an empty schema. */
export async function readSchema(client) {
    const found = await client.query(`select to_regclass('_prisma_migrations') as ledger, to_regclass('schema_guard') as guard`);
    const { ledger, guard } = found.rows[0] ?? {};
    const applied = new Map();
    const unfinished = [];
    const breaking = new Map();
    if (ledger) {
        const { rows } = await client.query('select migration_name, checksum, started_at, finished_at, logs from _prisma_migrations where rolled_back_at is null order by started_at');
        for (const row of rows) {
            const name = String(row.migration_name);
            if (row.finished_at)
                applied.set(name, String(row.checksum));
            else
                unfinished.push({ name, startedAt: row.started_at, logs: row.logs });
        }
    }
    if (guard) {
        const { rows } = await client.query('select migration_name, breaking_reason from schema_guard');
        // A mark outlives its ledger row when a database is reset by hand.
        for (const row of rows)
            if (applied.has(String(row.migration_name)))
                breaking.set(String(row.migration_name), String(row.breaking_reason));
    }
    return { applied, unfinished, breaking };
}
/** @throws StartError when the database has a breaking migration that this code does not know */
export function refuseBeyondBreaking(schema, migrations) {
    const known = new Set(migrations.map(({ name }) => name));
    for (const [name, reason] of schema.breaking) {
        if (known.has(name))
            continue;
        throw new StartError(`the database is newer than this code and beyond the breaking migration ${name} (${reason}): deploy the version that has it`);
    }
}
/**
 * Makes sure that this code can work with the database. Migrations that only the database has are fine unless one of them is breaking.
 * @throws StartError that says what to do
 */
export async function assertSchemaCompatible(client, directory = migrationsDirectory) {
    const [migrations, schema] = await Promise.all([readMigrations(directory), readSchema(client)]);
    refuseBeyondBreaking(schema, migrations);
    const missing = migrations.filter(({ name }) => !schema.applied.has(name));
    if (missing.length === 0)
        return;
    const which = missing.length === migrations.length ? 'all migrations' : missing.map(({ name }) => name).join(', ');
    throw new StartError(`the database lacks ${which}: run \`npm run release\` (node dist/src/migrate.js) with the same DATABASE_URL, then start again`);
}
//# sourceMappingURL=migrations.js.map