import { expect } from 'chai';
import { retentionMs } from '../../../../src/metering/model/retention.js';
const day = 86_400_000;
describe('how long raw events are kept', () => {
    it('is the longest usage period and the time in which an event may still come or be corrected', () => {
        expect(retentionMs([], 0)).to.equal(41 * day);
        expect(retentionMs(['HOUR', 'MONTH', 'DAY'], 0)).to.equal((32 + 41) * day);
        expect(retentionMs(['WEEK', 'YEAR'], 0)).to.equal((367 + 41) * day);
    });
    it('is longer when the operator asks for it, and never shorter', () => {
        expect(retentionMs(['MONTH'], 10)).to.equal((32 + 41) * day);
        expect(retentionMs(['MONTH'], 500)).to.equal(500 * day);
    });
    it('is for ever when usage that is never reset is counted from them', () => {
        expect(retentionMs(['MONTH', null], 0)).to.equal(null);
    });
});
//# sourceMappingURL=retention.test.js.map