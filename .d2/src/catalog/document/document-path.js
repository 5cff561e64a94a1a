/** Places inside a document, as text: `plans[2].entitlements[0].feature`, `additionalMetaData["a b"]`. */
/** The place of `key` in the map at `path`; the document itself is at ''. */
export function join(path, key) {
    if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key))
        return `${path}[${JSON.stringify(key)}]`;
    return path === '' ? key : `${path}.${key}`;
}
export function isMap(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
//# sourceMappingURL=document-path.js.map