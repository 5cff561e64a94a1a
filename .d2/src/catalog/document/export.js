/** A catalog written down as a person would write it. */
import * as decimal from '../../kernel/decimal.js';
import { isMap } from './document-path.js';
import { normalise } from './normalise.js';
/** Keys whose values belong to the caller and are written as they are, nulls and all. */
const verbatim = new Set(['additionalMetaData', 'filters']);
const decimals = new Set(['amount', 'flatPrice', 'limit', 'percentOff', 'unitPrice', 'upTo']);
/**
 * The document as plain JSON, without what says nothing (null, false, empty lists) and with decimals as numbers where a number carries
 * them exactly. Parsing it answers the normalised document again.
 */
export function exportCatalog(document) {
    return write('', normalise(document));
}
function write(key, value) {
    if (decimals.has(key))
        return writeDecimal(value);
    if (verbatim.has(key))
        return value;
    if (Array.isArray(value))
        return value.map((element) => write('', element));
    if (!isMap(value))
        return value;
    const said = Object.entries(value).filter(([, inner]) => inner !== null && inner !== false && !(Array.isArray(inner) && inner.length === 0));
    return Object.fromEntries(said.map(([name, inner]) => [name, write(name, inner)]));
}
function writeDecimal(value) {
    const number = decimal.toNumber(value);
    return decimal.fromNumber(number) === value ? number : value;
}
//# sourceMappingURL=export.js.map