import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { usePlatform } from '../support/platform.js';
import { Doors } from './doors.js';
describe('1,000 reports at once', function () {
    this.timeout(45_000);
    const doors = new Doors(usePlatform());
    it('of 0.1 on one customer, half of them on each door, make exactly 100', async () => {
        const customerId = await doors.provision('business');
        const report = { customerId, featureId: 'api-calls', value: 0.1 };
        const answers = await Promise.all(Array.from({ length: 1_000 }, (_, index) => (index % 2 ? doors.reportToSidecar(report) : doors.report(report))));
        // Each was answered the usage after its batch: a multiple of 0.1, as the shortest double of it.
        expect(answers.filter((usage) => usage !== Math.round(usage * 10) / 10)).to.deep.equal([]);
        expect(Math.max(...answers)).to.equal(100);
        expect((await doors.entitlement(customerId, 'api-calls')).currentUsage).to.equal(100);
        await eventually('the sidecar to know', async () => (await doors.usages(customerId, 'api-calls')).sidecar === 100);
    });
});
//# sourceMappingURL=concurrent-reports.test.js.map