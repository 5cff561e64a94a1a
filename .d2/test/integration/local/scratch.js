import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
/** A folder that any user may walk to, as the servers' own user must. */
export function scratchFolder() {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-local-'));
    chmodSync(folder, 0o755);
    return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
/** Waits until `condition` answers something truthy, and answers that. Throws what was missing after `timeoutMs`. */
export async function eventually(what, condition, timeoutMs = 20_000) {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
        const value = await condition();
        if (value)
            return value;
        if (Date.now() > deadline)
            throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
        await sleep(20);
    }
}
//# sourceMappingURL=scratch.js.map