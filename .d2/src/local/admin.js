// `npm run admin -- …`: environments, keys and the catalog, from the command line, straight in the database.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CatalogService } from '../catalog/service.js';
import { EnvironmentService } from '../environment/service.js';
import { systemClock } from '../kernel/clock.js';
import { Problem } from '../kernel/problem.js';
import { explainDatabaseError } from '../platform/database.js';
import { DeadLetters } from '../platform/dead-letters.js';
import { StartError } from '../platform/health.js';
import { silentLogger } from '../platform/logger.js';
import { openPostgres } from '../platform/postgres.js';
import { Life } from '../platform/process.js';
import { openRedis } from '../platform/redis.js';
import { startMigrations } from '../subscription/records/migrations.js';
import { commands } from './admin-commands.js';
import { UsageError } from './admin-input.js';
import { readPlatform } from './platform-file.js';
/** Runs one command. Answers the exit code: 0 done, 1 refused or failed, 2 the command line is wrong. */
export async function runAdmin({ args, databaseUrl, redisUrl, queuePrefix = '{tollgate}', folder, print, printError, }) {
    const isJson = args.includes('--json');
    try {
        const typed = readCommand(args);
        if ('help' in typed) {
            print(typed.help);
            return 0;
        }
        if (databaseUrl === null)
            throw new UsageError('no database: set DATABASE_URL, or start the platform (npm start) and try again');
        const answer = await withServices({ databaseUrl, redisUrl: redisUrl ?? null, queuePrefix, folder }, (context) => typed.command.run(context, typed.values, typed.argument));
        print(isJson ? JSON.stringify(answer.json, null, 2) : answer.text);
        return 0;
    }
    catch (error) {
        printError(isJson ? JSON.stringify(errorAsJson(error), null, 2) : errorAsText(error));
        return error instanceof UsageError ? 2 : 1;
    }
}
function readCommand(args) {
    const words = args.filter((arg) => !arg.startsWith('-'));
    const command = commands.find(({ name }) => args.slice(0, 2).join(' ') === name);
    if (!command) {
        if (words.length === 0 || words[0] === 'help' || args.includes('--help') || args.includes('-h'))
            return { help: overview() };
        throw new UsageError(`there is no command "${words.slice(0, 2).join(' ')}"; --help lists them`);
    }
    const { values, positionals } = parse(command, args.slice(2));
    if (values.help === true)
        return { help: helpOf(command) };
    const [argument = '', ...extra] = positionals;
    if (command.argument !== null && argument === '')
        throw new UsageError(`<${command.argument}> is missing\n\n${helpOf(command)}`);
    if (extra.length > 0 || (command.argument === null && argument !== ''))
        throw new UsageError(`"${positionals.at(-1)}" is one argument too many\n\n${helpOf(command)}`);
    return { command, values, argument };
}
const commonOptions = {
    json: { type: 'boolean', help: 'print JSON instead of text' },
    help: { type: 'boolean', short: 'h', help: 'print this' },
};
function parse(command, args) {
    try {
        const options = Object.entries({ ...command.options, ...commonOptions }).map(([name, { help, ...option }]) => [name, option]);
        const parsed = parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true });
        return { values: parsed.values, positionals: parsed.positionals };
    }
    catch (error) {
        // What is wrong with the command line, without the advice that follows.
        const [message] = error.message.split('. To specify');
        throw new UsageError(`${message}\n\n${helpOf(command)}`);
    }
}
function overview() {
    const usages = commands.map(usageOf);
    const width = Math.max(...usages.map((usage) => usage.length));
    const lines = commands.map(({ summary }, index) => `  ${usages[index].padEnd(width)}  ${summary}`);
    return `Usage: npm run -s admin -- <command> [options]

${lines.join('\n')}

Every command takes --json and --help. It works on the database of DATABASE_URL, else on that of the platform that npm start runs in this folder.
Exit codes: 0 done, 1 refused or failed, 2 wrong command line.`;
}
const usageOf = ({ name, argument }) => (argument === null ? name : `${name} <${argument}>`);
function helpOf(command) {
    const options = Object.entries({ ...command.options, ...commonOptions }).map(([name, option]) => {
        const flag = option.type === 'string' ? `--${name} <${name === 'environment' ? 'refId' : 'value'}>` : `--${name}`;
        return `  ${flag.padEnd(24)}  ${option.help}`;
    });
    return `${command.summary}

Usage: npm run -s admin -- ${usageOf(command)} [options]

${options.join('\n')}`;
}
/** Opens the database for one command. The deliverer of changes finds by itself what a command has changed, within its sweep. */
async function withServices({ databaseUrl, redisUrl, queuePrefix, folder }, work) {
    const life = new Life('admin', silentLogger());
    const clock = systemClock;
    try {
        const { pool, prisma } = openPostgres(life, databaseUrl, { poolSize: 2 });
        await pool.query('select from environment limit 0').catch((error) => {
            throw error.code === '42P01'
                ? new StartError('the database has no tables yet: run node dist/src/migrate.js')
                : explainDatabaseError(error, databaseUrl);
        });
        const environments = new EnvironmentService({ prisma, clock });
        const catalog = new CatalogService({ prisma, clock, startMigrations, nudge: () => undefined });
        const deadLetters = () => {
            if (redisUrl === null)
                throw new UsageError('no Redis: set REDIS_URL, or start the platform (npm start) and try again');
            return new DeadLetters(openRedis(life, redisUrl, 'request'), queuePrefix);
        };
        return await work({ environments, catalog, clock, folder, deadLetters });
    }
    finally {
        await life.stop();
    }
}
function errorAsText(error) {
    if (error instanceof UsageError || error instanceof StartError)
        return error.message;
    if (!(error instanceof Problem))
        return error instanceof Error && error.stack ? error.stack : String(error);
    const problems = error.details.problems;
    if (!problems)
        return error.message;
    const lines = problems.map(({ path, message }) => `  ${path === '' ? message : `${path} ${message}`}`);
    return [`The document was refused (${lines.length} ${lines.length === 1 ? 'problem' : 'problems'}):`, ...lines].join('\n');
}
function errorAsJson(error) {
    if (error instanceof UsageError)
        return { error: { reason: 'USAGE', message: error.message } };
    if (error instanceof StartError)
        return { error: { reason: 'UNAVAILABLE', message: error.message } };
    const { reason, message, details } = Problem.from(error);
    return { error: { reason, message, details } };
}
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const platform = readPlatform(join(root, '.data'));
    process.exitCode = await runAdmin({
        args: process.argv.slice(2),
        databaseUrl: process.env.DATABASE_URL || (platform?.databaseUrl ?? null),
        redisUrl: process.env.REDIS_URL || (platform?.redisUrl ?? null),
        queuePrefix: process.env.QUEUE_PREFIX || undefined,
        // npm runs scripts in the project's folder and says here where it was called.
        folder: process.env.INIT_CWD ?? process.cwd(),
        print: (text) => console.log(text),
        printError: (text) => console.error(text),
    });
}
//# sourceMappingURL=admin.js.map