import { expect } from 'chai';
import * as decimal from '../../../../src/kernel/decimal.js';
import { toAnsweredUnits } from '../../../../src/metering/model/unit-transformation.js';
describe('unit transformation', () => {
    const cases = [
        ['0', 1000, '0', '0'],
        ['1', 1000, '1', '0'],
        ['1000', 1000, '1', '1'],
        ['1000.000000001', 1000, '2', '1'],
        ['1999.9', 1000, '2', '1'],
        ['-1', 1000, '0', '-1'],
        ['-1000', 1000, '-1', '-1'],
        ['-1500', 1000, '-1', '-2'],
        ['0.3', 0.1, '3', '3'],
        ['900000000000000000001', 3, '300000000000000000001', '300000000000000000000'],
    ];
    for (const [usage, divide, up, down] of cases) {
        it(`answers ${usage} divided by ${divide} as ${up} rounded up and ${down} rounded down`, () => {
            expect(toAnsweredUnits(decimal.fromText(usage), { divide, round: 'UP' })).to.equal(up);
            expect(toAnsweredUnits(decimal.fromText(usage), { divide, round: 'DOWN' })).to.equal(down);
        });
    }
    it('converts nothing without a transformation', () => expect(toAnsweredUnits(decimal.fromText('1.5'), null)).to.equal('1.5'));
});
//# sourceMappingURL=unit-transformation.test.js.map