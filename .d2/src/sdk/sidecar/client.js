import { Client, Metadata, status } from '@grpc/grpc-js';
import { SidecarError } from './error.js';
import * as wire from './wire.js';
/** A sidecar that comes back is found soon. */
const channelOptions = {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.min_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.max_receive_message_length': 32 * 1024 * 1024,
};
/**
 * Asks a sidecar. Checks always answer: when the sidecar is gone or too slow, the call's fallback does, else the client's, else access is denied.
 * All other methods fail with a SidecarError.
 */
export class SidecarClient {
    #options;
    #client;
    constructor(options) {
        this.#options = options;
        this.#client = new Client(options.address, options.credentials, channelOptions);
    }
    /** Resolves when the sidecar answers. Fails with DEADLINE_EXCEEDED when it does not in time. */
    ready(timeoutMs) {
        return new Promise((resolve, reject) => {
            this.#client.waitForReady(Date.now() + timeoutMs, (error) => error ? reject(new SidecarError('DEADLINE_EXCEEDED', `The sidecar is not ready after ${timeoutMs} ms`)) : resolve());
        });
    }
    getBooleanEntitlement(question) {
        return this.#check('GetBooleanEntitlement', question, {}, ({ entitlement }) => entitlement && wire.toBoolean(entitlement));
    }
    getNumericEntitlement(question) {
        return this.#check('GetNumericEntitlement', question, {}, ({ entitlement }) => entitlement && wire.toNumeric(entitlement));
    }
    getMeteredEntitlement({ requestedUsage, ...question }) {
        return this.#check('GetMeteredEntitlement', question, { requestedUsage }, ({ entitlement }) => entitlement && wire.toMetered(entitlement));
    }
    getEnumEntitlement({ requestedValues, ...question }) {
        return this.#check('GetEnumEntitlement', question, { requestedValues }, ({ entitlement }) => entitlement && wire.toEnum(entitlement));
    }
    /** Checks a feature of whatever type. A fallback has no entitlement then: nobody knows of which type. */
    getEntitlement({ requestedUsage, requestedValues, ...question }) {
        return this.#check('GetEntitlement', question, { requestedUsage, requestedValues }, (answer) => wire.toEntitlement(answer));
    }
    /** Those that give access; a metered one whose limit is reached is among them. */
    async getEntitlements({ timeoutMs, ...owner }) {
        const answer = await this.#call('GetEntitlements', owner, timeoutMs);
        return {
            entitlements: answer.entitlements.flatMap((entitlement) => wire.toEntitlement(entitlement) ?? []),
            accessDeniedReason: wire.toReason(answer.accessDeniedReason),
        };
    }
    /** Answers when the usage is stored. */
    async reportUsage({ timeoutMs, ...report }) {
        return wire.toReported(await this.#call('ReportUsage', wire.fromReport(report), timeoutMs));
    }
    /** Answers in their order when all of them are stored; fails when none is. */
    async reportUsageBulk(reports, { timeoutMs } = {}) {
        const { usages } = await this.#call('ReportUsageBulk', { usages: reports.map(wire.fromReport) }, timeoutMs);
        return usages.map(wire.toReported);
    }
    /** Answers when all events are stored. When some are refused the others are stored all the same; the error says which. Safe to repeat. */
    async reportEvents(events, { timeoutMs } = {}) {
        await this.#call('ReportEvents', { events: events.map(wire.fromEvent) }, timeoutMs);
    }
    /** Fetches the entitlements anew; false when the customer, or its resource, is unknown. */
    async reloadEntitlements({ timeoutMs, ...owner }) {
        return (await this.#call('ReloadEntitlements', owner, timeoutMs)).entitledEntityExists;
    }
    async close() {
        this.#client.close();
    }
    async #check(method, { fallback, timeoutMs, ...question }, asked, entitlementOf) {
        const options = { ...asked, ...(fallback ? { fallback: { ...fallback, value: fallback.usageLimit } } : {}) };
        try {
            const answer = await this.#call(method, { ...question, options }, timeoutMs);
            const { hasAccess, isFallback, accessDeniedReason } = answer;
            return { hasAccess, isFallback, accessDeniedReason: wire.toReason(accessDeniedReason), entitlement: entitlementOf(answer) ?? null };
        }
        catch (error) {
            // What the caller got wrong would be wrong with a fallback too.
            if (error instanceof SidecarError && error.code === 'INVALID_ARGUMENT')
                throw error;
            const chosen = fallback ?? this.#options.fallbacks[question.featureId];
            const hasAccess = chosen?.hasAccess ?? false;
            const entitlement = chosen ? (entitlementOf({ hasAccess, isFallback: true, entitlement: wire.fromFallback(chosen) }) ?? null) : null;
            return { hasAccess, isFallback: true, accessDeniedReason: hasAccess ? null : 'UNKNOWN', entitlement };
        }
    }
    #call(method, request, timeoutMs = this.#options.timeoutMs) {
        const { path, requestSerialize, responseDeserialize } = wire.service[method];
        return new Promise((resolve, reject) => {
            const options = { deadline: Date.now() + timeoutMs };
            this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, new Metadata(), options, (error, answer) => {
                if (error)
                    reject(toSidecarError(error));
                else
                    resolve(answer);
            });
        });
    }
}
function toSidecarError(error) {
    return new SidecarError(status[error.code] ?? 'UNKNOWN', error.details, error);
}
//# sourceMappingURL=client.js.map