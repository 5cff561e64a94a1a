import { alreadyEnded, invalidSubscriptionStatus, trialIsCanceledImmediately } from './problems.js';
/** Time's own: they are due at an instant that the subscription names. */
export const timeTriggers = [
    'start',
    'startTrial',
    'startUnpaid',
    'trialConverts',
    'trialEnd',
    'cancellationDue',
    'endDate',
    'scheduledUpdate',
    'renewal',
    'paymentDeadline',
];
/** What the billing provider tells. */
export const paymentTriggers = ['paid', 'paymentRefused', 'collectionFailed'];
/** What somebody asks for, or what another subscription or the customer's archive brings about. */
export const requestTriggers = ['cancel', 'cancelLater', 'update', 'replace', 'trialReplaced', 'archive'];
export const triggers = [...timeTriggers, ...paymentTriggers, ...requestTriggers];
const refused = { refused: 'INVALID_SUBSCRIPTION_STATUS' };
const canceled = (reason) => ({ to: 'CANCELED', reason });
/** In a status that is not final every trigger without an entry of its own is refused: it is a fault of the caller. */
const open = (entries) => ({
    ...Object.fromEntries(triggers.map((trigger) => [trigger, refused])),
    cancel: canceled('Immediate'),
    replace: canceled('UpgradeOrDowngrade'),
    archive: canceled('CustomerArchived'),
    ...entries,
});
/** Nothing moves what has ended. Late jobs and late payments pass by; who asks is told. */
const final = {
    ...Object.fromEntries(triggers.map((trigger) => [trigger, { ignored: true }])),
    ...Object.fromEntries(requestTriggers.map((trigger) => [trigger, { refused: 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED' }])),
    // Archiving a customer takes everything that is open, and finds nothing to do here.
    archive: { ignored: true },
};
const table = {
    NOT_STARTED: open({
        start: { to: 'ACTIVE' },
        startTrial: { to: 'IN_TRIAL' },
        startUnpaid: { to: 'PAYMENT_PENDING' },
        update: { to: 'NOT_STARTED' },
    }),
    IN_TRIAL: open({
        trialConverts: { to: 'ACTIVE' },
        trialEnd: { to: 'EXPIRED', reason: 'TrialEnded' },
        cancellationDue: canceled('ScheduledCancellation'),
        cancelLater: { refused: 'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY' },
        update: { to: 'IN_TRIAL' },
        trialReplaced: canceled('TrialConverted'),
    }),
    ACTIVE: open({
        cancellationDue: canceled('ScheduledCancellation'),
        endDate: { to: 'EXPIRED', reason: 'Expired' },
        scheduledUpdate: { to: 'ACTIVE' },
        renewal: { to: 'ACTIVE' },
        collectionFailed: canceled('CancelledByBilling'),
        cancelLater: { to: 'ACTIVE' },
        update: { to: 'ACTIVE' },
    }),
    PAYMENT_PENDING: open({
        paid: { to: 'ACTIVE' },
        paymentRefused: canceled('PendingPaymentExpired'),
        paymentDeadline: canceled('PendingPaymentExpired'),
    }),
    CANCELED: final,
    EXPIRED: final,
};
/** The row of the table. */
export const outcome = (status, trigger) => table[status][trigger];
/** The next status, or null when the trigger is refused or comes too late. */
export function transition({ status }, trigger) {
    const found = outcome(status, trigger);
    return 'to' in found ? found : null;
}
/** What the caller is told when `trigger` is refused; null when it is not. `wanted` ends the sentence "it cannot be …". */
export function refusal({ status, refId }, trigger, wanted) {
    const found = outcome(status, trigger);
    if (!('refused' in found))
        return null;
    if (found.refused === 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED')
        return alreadyEnded(refId, status);
    if (found.refused === 'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY')
        return trialIsCanceledImmediately(refId);
    return invalidSubscriptionStatus(refId, status, wanted);
}
/** The subscription after a trigger at an instant. @throws Error when the table has no transition: ask `transition` or `refusal` first. */
export function apply(subscription, trigger, at) {
    const next = transition(subscription, trigger);
    if (!next)
        throw new Error(`subscription ${subscription.refId}: no transition from ${subscription.status} by ${trigger}`);
    const moved = { ...subscription, status: next.to };
    if (!next.reason)
        return moved;
    moved.cancelReason = next.reason;
    moved.effectiveEndDate = at;
    moved.scheduled = [];
    if (next.to === 'CANCELED')
        moved.cancellationDate ??= at;
    return moved;
}
//# sourceMappingURL=lifecycle.js.map