import Mocha from 'mocha'

/** What the test runner is told over IPC when the last test has ended. */
export interface TestCounts {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
}

export interface Failure {
  /** Where the test was compiled to. */
  file: string
  title: string
  /** The error with its stack. */
  error: string
}

/** Mocha's usual output, plus the counts for the program that started it. */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    // The program that started us is gone, and soon the services are. Listening must not keep a finished run alive.
    process.once('disconnect', () => process.exit(1))
    process.channel?.unref()
    const told: Failure[] = []
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, (test: Mocha.Test, error: Error) => {
      told.push({ file: test.file ?? test.parent?.file ?? '', title: test.titlePath().join(' › '), error: error.stack ?? String(error) })
    })
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 }
      process.send?.({ passed: passes, failed: failures, skipped: pending, failures: told } satisfies TestCounts)
    })
  }
}
