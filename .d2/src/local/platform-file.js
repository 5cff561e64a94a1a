import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './os-process.js';
const fileOf = (dataFolder) => join(dataFolder, 'platform.json');
/** The platform that runs from this data folder, or null: none was started, or it is gone. */
export function readPlatform(dataFolder) {
    const platform = readAnyPlatform(dataFolder);
    return platform && isRunning(platform.pid, 'node') ? platform : null;
}
/** As `readPlatform`, also of a runner that is gone. */
export function readAnyPlatform(dataFolder) {
    try {
        return JSON.parse(readFileSync(fileOf(dataFolder), 'utf8'));
    }
    catch {
        return null;
    }
}
/** Replaces the file in one step: a reader sees the old or the new one. */
export function writePlatform(dataFolder, platform) {
    const unfinished = `${fileOf(dataFolder)}.${process.pid}`;
    writeFileSync(unfinished, `${JSON.stringify(platform, null, 2)}\n`, { mode: 0o600 });
    renameSync(unfinished, fileOf(dataFolder));
}
export function removePlatform(dataFolder) {
    rmSync(fileOf(dataFolder), { force: true });
}
//# sourceMappingURL=platform-file.js.map