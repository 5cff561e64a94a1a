// `npm run demo`: plays the main job against the platform that runs from this folder, or starts one for the time of the demo.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareExample } from '../example.js'
import { runPlatform } from '../platform.js'
import { type PlatformFile, readPlatform } from '../platform-file.js'
import { playStory } from './story.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const print = (line: string) => process.stdout.write(`${line}\n`)

const running = readPlatform(join(root, '.data'))
if (running) process.exitCode = await tell(running)
else await startAndTell()

/** Prints the story as it goes; answers the exit code: 1 when an answer was wrong. */
async function tell(platform: PlatformFile): Promise<number> {
  print(`Playing against ${platform.webUrl} and the sidecar at ${platform.sidecarAddress}\n`)
  let number = 0
  let isRight = false
  for await (const step of playStory(platform)) {
    isRight = step.isRight
    print(`${String(++number).padStart(2)}. ${step.title}`)
    print(`    ${step.isRight ? 'ok   ' : 'WRONG'} ${step.answer}  (${step.ms.toFixed(1)} ms)`)
  }
  print(isRight ? '\nAll answers were right.' : '\nAn answer was wrong: see above, and the log lines of the processes.')
  return isRight ? 0 : 1
}

async function startAndTell(): Promise<void> {
  print('No platform runs from this folder: starting one for the demo.\n')
  const stop = new AbortController()
  const force = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (stop.signal.aborted ? force : stop).abort())
  let exitCode = 1
  try {
    await runPlatform({
      root,
      // Only what matters to the story is shown.
      env: { LOG_LEVEL: 'warn', ...process.env },
      prepareExample,
      print,
      isTerminal: Boolean(process.stdout.isTTY) && !process.env.NO_COLOR,
      onReady: (platform) => {
        tell(platform)
          .then((code) => {
            exitCode = code
          })
          .finally(() => stop.abort())
      },
      stop: stop.signal,
      force: force.signal,
    })
  } catch (error) {
    process.stderr.write(`\n${(error as Error).message}\n`)
  }
  process.exit(exitCode)
}
