import Mocha from 'mocha';
/** Mocha's usual output, plus the counts for the program that started it. */
export default class CountingReporter extends Mocha.reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        // The program that started us is gone, and soon the services are. Listening must not keep a finished run alive.
        process.once('disconnect', () => process.exit(1));
        process.channel?.unref();
        runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
            const { passes, failures, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 };
            process.send?.({ passed: passes, failed: failures, skipped: pending });
        });
    }
}
//# sourceMappingURL=reporter.js.map