import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import { pino } from 'pino';
/** Structured lines on standard output: JSON, or a readable line on a terminal. One line per fact, lower case, ids as fields. */
export function createLogger({ process: name, level }) {
    const options = {
        level,
        base: { process: name, pid: process.pid },
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
    };
    if (!isatty(1))
        return pino(options);
    // Only a terminal pays for the formatter.
    const pretty = createRequire(import.meta.url)('pino-pretty');
    return pino(options, pretty({ sync: true, ignore: 'pid' }));
}
/** Tests and tools that want silence. */
export const silentLogger = () => pino({ level: 'silent' });
//# sourceMappingURL=logger.js.map