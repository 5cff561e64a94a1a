import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
/** A new folder for own servers, in `parent`, which is made when it is missing. PostgreSQL may run as another user, who has to walk through both. */
export function makeDataFolder(parent, prefix) {
    mkdirSync(parent, { recursive: true });
    chmodSync(parent, 0o711);
    const folder = mkdtempSync(join(parent, prefix));
    chmodSync(folder, 0o711);
    return folder;
}
/** Removes it, and the folders elsewhere that its links lead to: where another user cannot walk to it, PostgreSQL's data is kept elsewhere. */
export function removeDataFolder(folder) {
    for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        if (lstatSync(path).isSymbolicLink())
            rmSync(realpathSync(path), { recursive: true, force: true });
    }
    rmSync(folder, { recursive: true, force: true });
}
//# sourceMappingURL=data-folder.js.map