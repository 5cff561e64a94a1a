import * as decimal from '../../kernel/decimal.js';
import { invalidInput } from '../../kernel/problem.js';
/** The range callers are promised: below it a double still tells neighbours an eighth apart, beyond it a slip of a unit is likelier. */
export const maxMagnitude = 1e15;
/**
 * A reported usage value as an exact decimal with at most 9 digits after the point. `path` names the input in the message.
 * Fails with INVALID_ARGUMENT on NaN and infinities, on 1e15 and beyond (both signs), and on a value other than 0 that is too
 * small to be kept: it would be acknowledged and count nothing.
 */
export function checkUsageValue(value, path = 'value') {
    if (!Number.isFinite(value))
        throw invalidInput(`${path} must be a finite number`, { path });
    if (Math.abs(value) >= maxMagnitude)
        throw invalidInput(`${path} must be between -1e15 and 1e15, both excluded`, { path });
    const kept = decimal.fromNumber(value);
    if (kept === decimal.zero && value !== 0)
        throw invalidInput(`${path} is too small: usage is kept to 9 decimals`, { path });
    return kept;
}
//# sourceMappingURL=usage-value.js.map