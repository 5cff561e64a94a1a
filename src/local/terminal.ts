import { Problem } from '../kernel/problem.js'
import { type PlatformOptions, runPlatform } from './platform.js'
import type { PlatformFile } from './platform-file.js'
import { commandLine, isAlive, parentOf } from './processes/os-process.js'

/** One Ctrl-C can arrive twice: from the terminal, and passed on by npm. Within this time it is the same one. */
const sameKeyMs = 1_000
const npmPollMs = 500

/**
 * Runs the platform for someone at a terminal: signals stop it, a second one kills; what went wrong is a sentence on standard error and exit
 * code 1.
 */
export async function runFromTerminal({ root, prepareExample }: Pick<PlatformOptions, 'root' | 'prepareExample'>): Promise<never> {
  const stop = new AbortController()
  const force = new AbortController()
  const startedAt = performance.now()
  let stoppedAt = 0
  const onSignal = () => {
    if (!stop.signal.aborted) {
      stoppedAt = performance.now()
      stop.abort(new Problem('ABORTED', 'STOPPING', 'Stopping'))
    } else if (performance.now() - stoppedAt > sameKeyMs) {
      force.abort()
      process.exit(130)
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  // Whoever read our lines is gone (`npm start | head`).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.abort())
  if (process.env.npm_lifecycle_event) stopWithNpm(stop)

  const isTerminal = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR
  try {
    await runPlatform({
      root,
      env: process.env,
      prepareExample,
      print: (line) => process.stdout.write(`${line}\n`),
      isTerminal,
      onReady: (platform) => process.stdout.write(welcome(platform, Math.round(performance.now() - startedAt))),
      stop: stop.signal,
      force: force.signal,
    })
    process.exit(0)
  } catch (error) {
    process.stderr.write(`\n${explain(error, root)}\n`)
    process.exit(1)
  }
}

/** npm killed without a word leaves us running for nobody. It is our parent, or our parent's when it runs us through a shell. */
function stopWithNpm(stop: AbortController): void {
  const npm = [process.ppid, parentOf(process.ppid) ?? 0].find((pid) => /^npm |npm-cli\.js|\/npm /.test(commandLine(pid)))
  if (!npm) return
  const timer = setInterval(() => {
    if (!isAlive(npm)) stop.abort()
  }, npmPollMs)
  timer.unref()
}

function explain(error: unknown, root: string): string {
  if (error instanceof Problem) return error.message
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EPERM')
    return `This user may not use ${path ?? root}. It was probably made by another user: run as that one, or delete it (data is in ${root}.data).`
  if (code === 'ENOSPC') return `The disk is full: free some space for ${path ?? root}.`
  if (code === 'EROFS') return `${path ?? root} is on a read-only disk.`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function welcome(platform: PlatformFile, tookMs: number): string {
  const query = (text: string) =>
    [
      `  curl -s ${platform.webUrl}/graphql \\`,
      `    -H 'X-API-KEY: ${platform.serverApiKey}' -H 'content-type: application/json' \\`,
      `    -d '${JSON.stringify({ query: text })}'`,
    ].join('\n')
  return `
Tollgate is ready (${(tookMs / 1000).toFixed(1)} s).

  GraphQL API     ${platform.webUrl}/graphql      (a query editor in the browser)
  Documentation   ${platform.webUrl}/docs
  Queues          ${platform.webUrl}/queues       (operator key ${platform.operatorKey})
  Sidecar, gRPC   ${platform.sidecarAddress}
  Server API key  ${platform.serverApiKey}        (environment ${platform.environmentRefId})

Try, in a second terminal:

  npm run demo

Or by hand: a customer on the free plan, its right to use a feature, and some use of it.

${query('mutation { provisionCustomer(input: {customerId: "customer-1", subscriptionParams: {planId: "free"}}) { customer { customerId } subscription { status } } }')}

${query('{ entitlement(query: {customerId: "customer-1", featureId: "api-calls"}) { isGranted currentUsage usageLimit accessDeniedReason } }')}

${query('mutation { reportUsage(input: {customerId: "customer-1", featureId: "api-calls", value: 1}) { id currentUsage } }')}

Ctrl-C stops everything. Data stays in .data and is there again at the next start.

`
}
