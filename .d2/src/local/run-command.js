import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
/** The full path of a program on PATH, or null. */
export function findOnPath(name) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
        const file = join(folder, name);
        try {
            accessSync(file, constants.X_OK);
            if (folder !== '')
                return file;
        }
        catch {
            // Not here.
        }
    }
    return null;
}
/** What a program said that failed, or why it could not be started. */
export class CommandFailure extends Error {
    output;
    code;
    constructor(command, 
    /** Its output, standard error last. */
    output, code) {
        super(`${command}: ${output.trim() || code}`);
        this.output = output;
        this.code = code;
    }
}
/** Runs a program to its end and answers its standard output. Throws a CommandFailure; `options.signal` ends it early. */
export function runCommand(command, args, options = {}) {
    return new Promise((resolve, reject) => {
        execFile(command, args, { maxBuffer: 16 * 1024 * 1024, ...options, encoding: 'utf8' }, (error, stdout, stderr) => {
            if (!error)
                resolve(stdout);
            else if (options.signal?.aborted)
                reject(options.signal.reason);
            else
                reject(new CommandFailure(command, `${stdout}${stderr}` || error.message, error.code ?? error.signal ?? null));
        });
    });
}
//# sourceMappingURL=run-command.js.map