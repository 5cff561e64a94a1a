import { setTimeout as sleep } from 'node:timers/promises';
/** Waits until `condition` answers something truthy, and answers that. Throws what was missing after `timeoutMs`. */
export async function eventually(what, condition, timeoutMs = 20_000) {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
        const value = await condition();
        if (value)
            return value;
        if (Date.now() > deadline)
            throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
        await sleep(10);
    }
}
//# sourceMappingURL=eventually.js.map