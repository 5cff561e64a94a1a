import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { usePlatform } from '../support/platform.js';
import { byCallers, Doors } from './doors.js';
const featureId = 'api-calls';
const fallback = { has_access: true, usage_limit: 7 };
/** What a caller allows, and what may come on top before somebody notices: timers of two busy processes. */
const deadlineMs = 800;
const slackMs = 700;
describe('an outage', function () {
    this.timeout(45_000);
    const platform = usePlatform();
    const doors = new Doors(platform);
    /** A customer whose entitlements the sidecar holds. */
    async function cachedCustomer() {
        const customerId = await doors.provision('business');
        expect(await doors.metered(customerId, featureId)).to.include({ has_access: true, is_fallback: false });
        return customerId;
    }
    /** A check that takes longer than its deadline fails the test. */
    async function check(customerId) {
        const startedAt = performance.now();
        const answer = await doors.metered(customerId, featureId, { requestedUsage: 1, fallback, deadlineMs });
        expect(performance.now() - startedAt).to.be.below(deadlineMs + slackMs);
        return answer;
    }
    const isAnswered = (answer) => expect(answer).to.include({ has_access: true, is_fallback: false });
    const isFallback = (answer) => {
        expect(answer).to.include({ has_access: true, is_fallback: true });
        expect(answer.entitlement).to.include({ usage_limit: 7 });
    };
    it('of a web process that hangs leaves cached customers answered, gives others their fallback in time, and is caught up with', async () => {
        const customerId = await cachedCustomer();
        const strangers = await Promise.all(Array.from({ length: 12 }, () => doors.provision('business')));
        await platform().whileFrozen('web', async () => {
            // One by one and all at once: neither a queue of waiting reads nor the reads themselves may hold a check up.
            isFallback(await check(strangers[0]));
            const answers = strangers.map(check);
            for (let n = 0; n < 50; n++)
                isAnswered(await check(customerId));
            for (const answer of await Promise.all(answers))
                isFallback(answer);
            const startedAt = performance.now();
            const report = platform().sidecar.call('ReportUsage', { customer_id: customerId, feature_id: featureId, value: 1 }, deadlineMs);
            expect(await failure(report)).to.match(/DEADLINE_EXCEEDED/);
            expect(performance.now() - startedAt).to.be.below(deadlineMs + slackMs);
            isAnswered(await check(customerId));
        });
        await eventually('the strangers to be known', async () => !(await check(strangers[0])).is_fallback);
        const usage = await doors.report({ customerId, featureId, value: 2 });
        await eventually('the sidecar to catch up', async () => (await check(customerId)).entitlement?.current_usage === usage);
    });
    it('of a web process that is killed leaves cached customers answered, gives others their fallback, and is caught up with', async () => {
        const customerId = await cachedCustomer();
        const stranger = await doors.provision('business');
        const { back } = platform().kill('web');
        isFallback(await check(stranger));
        const report = platform().sidecar.call('ReportUsage', { customer_id: customerId, feature_id: featureId, value: 1 });
        expect(await failure(report)).to.match(/UNAVAILABLE/);
        let isBack = false;
        const returned = back().then(() => {
            isBack = true;
        });
        let checks = 0;
        while (!isBack) {
            isAnswered(await check(customerId));
            checks += 1;
        }
        await returned;
        expect(checks).to.be.above(10);
        // Told by nobody when the sidecar is not connected yet: then it asks.
        const usage = await doors.report({ customerId, featureId, value: 3 });
        expect(usage, 'the refused report').to.equal(3);
        await eventually('the sidecar to catch up', async () => (await check(customerId)).entitlement?.current_usage === 3);
        await eventually('the stranger to be known', async () => !(await check(stranger)).is_fallback);
    });
    it('of Redis, with everything in it, has reports refused for a while and loses none that was acknowledged', async () => {
        const customerId = await cachedCustomer();
        const reports = Array.from({ length: 400 }, () => randomUUID());
        let acknowledged = 0;
        let refused = 0;
        let longestMs = 0;
        let isAway = false;
        let returned;
        const deadline = Date.now() + 30_000;
        await byCallers(8, reports, async (idempotencyKey) => {
            for (;;) {
                const startedAt = performance.now();
                const problem = await failure(doors.report({ customerId, featureId, value: 0.1, idempotencyKey }));
                longestMs = Math.max(longestMs, performance.now() - startedAt);
                if (problem === null)
                    break;
                expect(problem).to.match(/^(ServiceUnavailable|Timeout):/);
                refused += 1;
                expect(Date.now(), 'reports are accepted again').to.be.below(deadline);
            }
            acknowledged += 1;
            if (acknowledged < 150 || isAway)
                return;
            isAway = true;
            await platform().redis.lose();
            // What PostgreSQL answers is answered all the time, and so is what the sidecar holds.
            isAnswered(await check(customerId));
            expect(await doors.entitlement(customerId, featureId)).to.include({ isGranted: true });
            await eventually('a report to be refused', () => refused > 0);
            returned = platform().redis.start();
        });
        await returned;
        expect(longestMs).to.be.below(7_000);
        expect((await doors.entitlement(customerId, featureId)).currentUsage).to.equal(reports.length / 10);
        await eventually('the sidecar to catch up', async () => (await check(customerId)).entitlement?.current_usage === reports.length / 10);
    });
});
/** Why it failed; null when it did not. */
function failure(call) {
    return call.then(() => null, (error) => error.message);
}
//# sourceMappingURL=outage.test.js.map