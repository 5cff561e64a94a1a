/** API keys as text: `server-…` or `client-…`. Only their SHA-256 is kept; with this much chance in a key a slow hash would add nothing. */
import { createHash, randomInt } from 'node:crypto';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 40 of 62 characters: 238 bits. */
const secretLength = 40;
const wellFormed = /^(?:server|client)-[0-9A-Za-z]{32,200}$/;
/** Letters and digits only, so that a double click selects all of it and no shell or URL changes it. */
export function randomText(length = secretLength) {
    return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
/** A new key. It is shown to its owner now, or never. */
export function makeKey(kind) {
    return `${kind.toLowerCase()}-${randomText()}`;
}
/** Whether the text can be a key at all; what cannot is refused without a look at the database. */
export function isWellFormedKey(text) {
    return wellFormed.test(text);
}
export function hashKey(key) {
    return createHash('sha256').update(key).digest();
}
/** The last four characters, by which people tell keys apart. */
export function hintOf(key) {
    return key.slice(-4);
}
//# sourceMappingURL=key.js.map