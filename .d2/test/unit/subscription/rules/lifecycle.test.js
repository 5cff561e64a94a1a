import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { apply, outcome, paymentTriggers, refusal, requestTriggers, timeTriggers, transition, triggers, } from '../../../../src/subscription/rules/lifecycle.js';
import { isFinal, subscriptionStatuses, } from '../../../../src/subscription/rules/subscription.js';
import { day, subscription, t0 } from '../support.js';
/** Every transition, written out. */
const transitions = [
    ['NOT_STARTED', 'start', 'ACTIVE'],
    ['NOT_STARTED', 'startTrial', 'IN_TRIAL'],
    ['NOT_STARTED', 'startUnpaid', 'PAYMENT_PENDING'],
    ['NOT_STARTED', 'update', 'NOT_STARTED'],
    ['NOT_STARTED', 'cancel', 'CANCELED', 'Immediate'],
    ['NOT_STARTED', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
    ['NOT_STARTED', 'archive', 'CANCELED', 'CustomerArchived'],
    ['IN_TRIAL', 'trialConverts', 'ACTIVE'],
    ['IN_TRIAL', 'trialEnd', 'EXPIRED', 'TrialEnded'],
    ['IN_TRIAL', 'cancellationDue', 'CANCELED', 'ScheduledCancellation'],
    ['IN_TRIAL', 'update', 'IN_TRIAL'],
    ['IN_TRIAL', 'cancel', 'CANCELED', 'Immediate'],
    ['IN_TRIAL', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
    ['IN_TRIAL', 'trialReplaced', 'CANCELED', 'TrialConverted'],
    ['IN_TRIAL', 'archive', 'CANCELED', 'CustomerArchived'],
    ['ACTIVE', 'cancellationDue', 'CANCELED', 'ScheduledCancellation'],
    ['ACTIVE', 'endDate', 'EXPIRED', 'Expired'],
    ['ACTIVE', 'scheduledUpdate', 'ACTIVE'],
    ['ACTIVE', 'renewal', 'ACTIVE'],
    ['ACTIVE', 'collectionFailed', 'CANCELED', 'CancelledByBilling'],
    ['ACTIVE', 'cancel', 'CANCELED', 'Immediate'],
    ['ACTIVE', 'cancelLater', 'ACTIVE'],
    ['ACTIVE', 'update', 'ACTIVE'],
    ['ACTIVE', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
    ['ACTIVE', 'archive', 'CANCELED', 'CustomerArchived'],
    ['PAYMENT_PENDING', 'paid', 'ACTIVE'],
    ['PAYMENT_PENDING', 'paymentRefused', 'CANCELED', 'PendingPaymentExpired'],
    ['PAYMENT_PENDING', 'paymentDeadline', 'CANCELED', 'PendingPaymentExpired'],
    ['PAYMENT_PENDING', 'cancel', 'CANCELED', 'Immediate'],
    ['PAYMENT_PENDING', 'replace', 'CANCELED', 'UpgradeOrDowngrade'],
    ['PAYMENT_PENDING', 'archive', 'CANCELED', 'CustomerArchived'],
];
/** What happens in a pair that is no transition. */
function expectedRefusal(status, trigger) {
    const isAsked = requestTriggers.includes(trigger) && trigger !== 'archive';
    if (isFinal(status))
        return isAsked ? 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED' : 'nothing';
    if (status === 'IN_TRIAL' && trigger === 'cancelLater')
        return 'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY';
    return 'INVALID_SUBSCRIPTION_STATUS';
}
describe('lifecycle table', () => {
    it('knows each trigger once, by who pulls it', () => {
        expect(new Set(triggers).size).to.equal(timeTriggers.length + paymentTriggers.length + requestTriggers.length);
    });
    for (const status of subscriptionStatuses) {
        for (const trigger of triggers) {
            const row = transitions.find(([from, by]) => from === status && by === trigger);
            const from = subscription({ status });
            if (row) {
                const [, , to, reason] = row;
                it(`${status} by ${trigger} is ${to}${reason ? ` (${reason})` : ''}`, () => {
                    expect(transition(from, trigger)).to.deep.equal(reason ? { to, reason } : { to });
                    expect(refusal(from, trigger, 'moved')).to.equal(null);
                });
            }
            else {
                const expected = expectedRefusal(status, trigger);
                it(`${status} by ${trigger} is ${expected === 'nothing' ? 'nothing' : `refused with ${expected}`}`, () => {
                    expect(transition(from, trigger)).to.equal(null);
                    expect(refusal(from, trigger, 'moved')?.reason ?? 'nothing').to.equal(expected);
                    expect(() => apply(from, trigger, t0)).to.throw(`no transition from ${status} by ${trigger}`);
                });
            }
        }
    }
    it('gives every end a reason and a date, takes back what waited, and does so at no other time', () => {
        const waiting = [
            { id: 'later', executeAt: t0 + 9 * day, change: { type: 'BillingPeriod', billingPeriod: 'ANNUALLY' } },
        ];
        for (const [status, trigger] of transitions) {
            const moved = apply(subscription({ status, scheduled: waiting }), trigger, t0 + day);
            expect(moved.cancelReason !== null, trigger).to.equal(isFinal(moved.status));
            expect(moved.effectiveEndDate, trigger).to.equal(isFinal(moved.status) ? t0 + day : null);
            expect(moved.cancellationDate, trigger).to.equal(moved.status === 'CANCELED' ? t0 + day : null);
            expect(moved.scheduled, trigger).to.deep.equal(isFinal(moved.status) ? [] : waiting);
        }
    });
    it('keeps the date on which a cancellation was asked for', () => {
        const scheduled = subscription({ cancellationDate: t0, effectiveEndDate: t0 + 5 * day });
        expect(apply(scheduled, 'cancellationDue', t0 + 5 * day)).to.include({ cancellationDate: t0, effectiveEndDate: t0 + 5 * day });
        expect(apply(scheduled, 'replace', t0 + day)).to.include({ cancellationDate: t0, effectiveEndDate: t0 + day });
    });
    it('is printed whole, one row a trigger and one column a status, and is so in the docs', () => {
        const file = fileURLToPath(new URL('../../../../src/subscription/print-lifecycle.js', import.meta.url));
        const printedTable = execFileSync(process.execPath, [file], { encoding: 'utf8' }).trimEnd();
        const page = readFileSync('src/web/docs/subscriptions.md', 'utf8');
        expect(page, 'the page has the table').to.include(`npm run -s lifecycle -->\n\n${printedTable}\n\n<!-- end`);
        const [head, , ...rows] = printedTable.split('\n');
        const cells = (line) => line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim());
        expect(cells(head)).to.deep.equal(['trigger', ...subscriptionStatuses]);
        expect(rows.map((row) => cells(row)[0])).to.deep.equal([...triggers]);
        const printed = cells(rows[triggers.indexOf('cancelLater')]);
        expect(printed.slice(1)).to.deep.equal(subscriptionStatuses.map((status) => {
            const found = outcome(status, 'cancelLater');
            return 'refused' in found ? `refused: ${found.refused}` : 'ACTIVE';
        }));
    });
});
//# sourceMappingURL=lifecycle.test.js.map