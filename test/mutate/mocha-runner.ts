// Stryker's way to run unit tests, given to it as a plugin. Its own runner for mocha is for versions that are CommonJS inside.
import type { MutantCoverage, StrykerOptions } from '@stryker-mutator/api/core'
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import {
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner'
import Mocha from 'mocha'

/** What instrumented code reads and writes, by the names that Stryker's instrumenter has for it. */
interface Instrumented {
  activeMutant?: string
  currentTestId?: string
  hitCount?: number
  hitLimit?: number
  mutantCoverage?: MutantCoverage
}

const shared = globalThis as { __stryker__?: Instrumented }
shared.__stryker__ ??= {}
const instrumented = shared.__stryker__

/** Set by the command: what is loaded, the compiled code and its tests, relative to the sandbox, which is the working directory. */
export const filesVariable = 'MUTATE_TEST_FILES'

const noTest: TestResult = { id: 'none', name: 'none', timeSpentMs: 0, status: TestStatus.Success }

/** Milliseconds. What takes longer is run after all else, and only for mutants that nothing else notices. */
const longestQuick = 50

/** Results are read from the events. */
class Silent extends Mocha.reporters.Base {}

class MochaRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options)
  // No limit of its own: Stryker's is for the whole run. A test that a mutant keeps waiting is one that has noticed it.
  readonly #mocha = new Mocha({ reporter: Silent, timeout: 0 })
  #isLoaded = false
  /** What each test took when it last passed. */
  readonly #durations = new Map<string, number>()

  constructor(readonly options: Pick<StrykerOptions, 'ignoreStatic'>) {}

  capabilities() {
    // What is imported once stays: mutants of what runs at that time get a process of their own. Where they are left out, none needs one.
    return { reloadEnvironment: this.options.ignoreStatic }
  }

  async init(): Promise<void> {
    this.#mocha.cleanReferencesAfterRun(false)
    for (const file of process.env[filesVariable]!.split(',').filter(Boolean)) this.#mocha.addFile(file)
    this.#mocha.rootHooks({
      beforeEach(this: Mocha.Context) {
        instrumented.currentTestId = this.currentTest!.fullTitle()
        // What a test allows itself, here or when it begins, is for a machine that does nothing else, and for the code as it is.
        const test = this.currentTest!.timeout(0)
        Object.assign(test, { timeout: (ms?: number) => (ms === undefined ? 0 : test) })
      },
    })
  }

  async dryRun({ disableBail }: DryRunOptions): Promise<DryRunResult> {
    const result = await this.#run(disableBail)
    if (result.status !== DryRunStatus.Complete) return result
    // Stryker ends without a word where there is no test; that nothing is noticed there is what is to be said.
    const tests = result.tests.length > 0 ? result.tests : [noTest]
    return { ...result, tests, mutantCoverage: instrumented.mutantCoverage }
  }

  async mutantRun({ activeMutant, disableBail, hitLimit, mutantActivation, testFilter }: MutantRunOptions): Promise<MutantRunResult> {
    if (mutantActivation === 'static') instrumented.activeMutant = activeMutant.id
    await this.#load()
    instrumented.activeMutant = activeMutant.id
    instrumented.hitLimit = hitLimit
    instrumented.hitCount = hitLimit === undefined ? undefined : 0
    return toMutantRunResult(testFilter ? await this.#runInTurns(disableBail, testFilter) : await this.#run(disableBail))
  }

  async #runInTurns(isWhole: boolean, titles: readonly string[]): Promise<DryRunResult> {
    const isSlow = (title: string) => (this.#durations.get(title) ?? 0) > longestQuick
    const slow = titles.filter(isSlow)
    const quick = await this.#run(
      isWhole,
      titles.filter((title) => !isSlow(title)),
    )
    const isOver = quick.status !== DryRunStatus.Complete || quick.tests.some(({ status }) => status === TestStatus.Failed)
    return slow.length === 0 || isOver ? quick : this.#run(isWhole, slow)
  }

  async #load(): Promise<void> {
    if (!this.#isLoaded) await this.#mocha.loadFilesAsync()
    this.#isLoaded = true
  }

  async #run(isWhole: boolean, only?: readonly string[]): Promise<DryRunResult> {
    try {
      await this.#load()
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: String(error) }
    }
    const titles = only && new Set(only)
    // Mocha asks no more of it than this.
    const chosen = { test: (title: string) => titles?.has(title) ?? true } as RegExp
    this.#mocha.options.grep = chosen
    const tests: TestResult[] = []
    await new Promise<void>((resolve) => {
      const runner = this.#mocha.run(() => resolve())
      const resultOf = (test: Mocha.Test) => ({ id: test.fullTitle(), name: test.fullTitle(), timeSpentMs: test.duration ?? 0 })
      runner.on('pass', (test) => {
        const result = resultOf(test)
        this.#durations.set(result.id, result.timeSpentMs)
        tests.push({ ...result, status: TestStatus.Success })
      })
      runner.on('fail', (test, error: unknown) => {
        tests.push({ ...resultOf(test), status: TestStatus.Failed, failureMessage: String(error) })
        if (!isWhole) runner.abort()
      })
    })
    return determineHitLimitReached(instrumented.hitCount, instrumented.hitLimit) ?? { status: DryRunStatus.Complete, tests }
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'unit', MochaRunner)]
