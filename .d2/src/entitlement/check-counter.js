import { Counter } from '../platform/metrics.js';
/** Counts the checks that SDKs answered from what they hold, and reported: how often a feature is asked for is otherwise only known to them. */
export class CheckCounter {
    #checks;
    constructor(metrics) {
        this.#checks = new Counter({
            name: 'tollgate_reported_checks_total',
            help: 'Entitlement checks that clients reported, by result: granted, or the reason of the denial',
            labelNames: ['environment', 'result'],
            registers: [metrics],
        });
    }
    record(environmentId, check) {
        this.#checks.inc({ environment: environmentId, result: check.granted ? 'granted' : (check.reason ?? 'Unknown') });
    }
}
//# sourceMappingURL=check-counter.js.map