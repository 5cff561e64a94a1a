import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../../src/kernel/problem.js'

/** A program of the harness in a process of its own. It ends with this process, however this one ends. */
export class Forked {
  readonly #child: ChildProcess

  constructor(private readonly program: URL) {
    this.#child = fork(fileURLToPath(program), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env: { PATH: process.env.PATH } })
  }

  tell(message: object): void {
    this.#child.send(message)
  }

  /** Tells it something, and answers what it says next. Fails when it ends or is silent for too long. */
  async ask<T>(message: object, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Problem('UNAVAILABLE', 'PROGRAM_FAILED', `${this.program.pathname} ${what}`))
      const timer = setTimeout(fail, timeoutMs, `did not answer in ${timeoutMs / 1_000} s`)
      const exited = (code: number | null) => {
        clearTimeout(timer)
        fail(`ended with ${code} instead of an answer`)
      }
      this.#child.once('exit', exited)
      this.#child.once('message', (answer) => {
        clearTimeout(timer)
        this.#child.off('exit', exited)
        resolve(answer as T)
      })
      this.tell(message)
    })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
