import * as decimal from '../../kernel/decimal.js';
/** Usage in the unit that is answered. Null converts nothing. Convert the sum, never its parts: each would be rounded. */
export function toAnsweredUnits(usage, transformation) {
    if (transformation === null)
        return usage;
    return decimal.divideToWhole(usage, decimal.fromNumber(transformation.divide), transformation.round);
}
//# sourceMappingURL=unit-transformation.js.map