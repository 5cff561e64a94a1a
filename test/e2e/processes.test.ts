import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { processEnvironment, type Wiring } from '../../src/local/process-wiring.js'
import { parseProcfile, programOf } from '../../src/local/processes/procfile.js'
import { eventually } from '../support/eventually.js'
import { usePlatform } from '../support/platform.js'
import { byCallers } from './doors.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const lines = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8'))
const servers = lines.filter(({ name }) => name !== 'release').map(({ name }) => name)

/** Two cores: more processes at once start no sooner. */
const atOnce = 3
const secret = 'password-of-nobody'

/** Nothing in it is right. */
const invalid = {
  PORT: 'https',
  LOG_LEVEL: 'loud',
  SHUTDOWN_TIMEOUT_MS: '-1',
  DATABASE_URL: `mysql://user:${secret}@host/database`,
  REDIS_URL: `memcached://user:${secret}@host`,
  API_URL: `ftp://host`,
  EDGE_API_URL: `ftp://host`,
  ERRTRACK_DSN: `https://${secret}@host`,
  SECRETS_KEY: secret,
  WEBHOOK_TARGETS: 'moon',
  QUEUE_URL: `https://user:${secret}@host/queue`,
}
const common = ['LOG_LEVEL', 'SHUTDOWN_TIMEOUT_MS']
const stores = ['DATABASE_URL', 'REDIS_URL']
const wrongIn: Record<string, string[]> = {
  release: ['LOG_LEVEL', 'DATABASE_URL'],
  web: [...common, 'PORT', ...stores, 'SECRETS_KEY', 'WEBHOOK_TARGETS'],
  sidecar: [...common, 'PORT', 'API_URL', 'EDGE_API_URL'],
  'usage-ingestion': [...common, 'PORT', ...stores],
  'event-aggregation': [...common, 'PORT', ...stores],
  'subscription-transitions': [...common, 'PORT', ...stores],
  'cache-invalidation': [...common, 'PORT', ...stores],
  'billing-sync': [...common, 'PORT', ...stores],
  'webhook-delivery': [...common, 'PORT', 'DATABASE_URL', 'SECRETS_KEY', 'WEBHOOK_TARGETS'],
  'alert-evaluation': [...common, 'PORT', ...stores],
  // Two are missing.
  'queue-consumption': [...common, 'PORT', 'EDGE_API_URL', 'ERRTRACK_DSN', 'QUEUE_URL', 'SERVER_API_KEY', 'REDIS_HOST'],
}

interface Ended {
  code: number | null
  output: string
}

/** A process of the Procfile, beside the one that runs already. */
function run(name: string, env: NodeJS.ProcessEnv, ...args: string[]) {
  const program = programOf(lines.find((line) => line.name === name)!.command)
  const child = spawn(program.command, [...program.args, ...args], { cwd: root, env: { PATH: process.env.PATH, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, output })))
  return { child, ended, output: () => output }
}

/** The log lines of a process. */
const records = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: string; msg: string; err?: unknown })

describe('every process', function () {
  this.timeout(40_000)
  const platform = usePlatform()

  /** As the runner gives it. `isSame`: on the ports that are taken; else on any that are free. */
  function environmentOf(name: string, { isSame = false } = {}): NodeJS.ProcessEnv {
    const { databaseUrl, redisUrl, serverApiKey, operatorKey, secretsKey, processes, sidecarHttpUrl, webMetricsUrl } = platform().file
    const wiring: Wiring = {
      databaseUrl,
      redisUrl,
      serverApiKey,
      operatorKey,
      secretsKey,
      // Its queue is nobody's.
      environmentId: '019a0000-0000-7000-8000-000000000000',
      ports: Object.fromEntries(Object.entries(processes).map(([process, { port }]) => [process, port])),
      sidecarHttpPort: isSame ? Number(new URL(sidecarHttpUrl).port) : 0,
      webMetricsPort: isSame ? Number(new URL(webMetricsUrl).port) : 0,
      bindAddress: '127.0.0.1',
    }
    const env = name === 'release' ? { DATABASE_URL: databaseUrl } : processEnvironment(name, wiring, {})
    return isSame ? env : { ...env, PORT: '0' }
  }

  it('says with --check-config that its configuration is valid', async () => {
    await byCallers(atOnce, lines, async ({ name }) => {
      const { code, output } = await run(name, environmentOf(name), '--check-config').ended
      expect({ code, output }).to.deep.equal({ code: 0, output: `${name}: configuration is valid\n` })
    })
  })

  it('says with --check-config all that is wrong at once, and no secret', async () => {
    await byCallers(atOnce, lines, async ({ name }) => {
      const { code, output } = await run(name, invalid, '--check-config').ended
      expect(code, name).to.equal(1)
      const named = [...output.matchAll(/^ +([A-Z_]+) /gm)].map(([, variable]) => variable)
      expect(named, `${name}: ${output}`).to.include.members(wrongIn[name]!)
      expect(output)
        .to.match(new RegExp(`^${name}: the configuration has ${named.length} problem`))
        .and.not.include(secret)
    })
  })

  it('says in a sentence that its port is taken', async () => {
    await byCallers(atOnce, servers, async (name) => {
      const { code, output } = await run(name, environmentOf(name, { isSame: true })).ended
      expect(code, output).to.equal(1)
      const fatal = records(output).filter(({ level }) => level === 'fatal')
      expect(fatal, output).to.have.length(1)
      const { port } = platform().file.processes[name]!
      expect(fatal[0]!.msg).to.equal(`port ${port} on 127.0.0.1 is already in use: stop the other process or choose another port`)
      expect(fatal[0]!.err).to.equal(undefined)
    })
  })

  it('runs beside another copy, and ends in order and in time on SIGTERM', async () => {
    await byCallers(atOnce, servers, async (name) => {
      const { child, ended, output } = run(name, { ...environmentOf(name), SHUTDOWN_TIMEOUT_MS: '5000' })
      try {
        const hasStarted = () => child.exitCode !== null || records(output()).some(({ msg }) => msg === 'started')
        await eventually(`${name} to start`, hasStarted)
        child.kill('SIGTERM')
        expect(await ended).to.include({ code: 0 })
        // Lines are written in the background, so the last two may change places.
        expect(records(output()).map(({ msg }) => msg)).to.include.members(['stopping', 'stopped'])
        // Its queue is nobody's, and the API may have said so by then.
        const isOfQueue = (msg: unknown) => name === 'queue-consumption' && /^the API refuses SERVER_API_KEY/.test(String(msg))
        const bad = records(output()).filter(({ level, msg }) => ['warn', 'error', 'fatal'].includes(level) && !isOfQueue(msg))
        expect(bad).to.deep.equal([])
      } finally {
        child.kill('SIGKILL')
      }
    })
  })

  it('keeps keys and passwords out of its log lines', async () => {
    const { webUrl, serverApiKey, operatorKey, databaseUrl, processes } = platform().file
    // Where a key is in the address, in a header, or in a refused request.
    await fetch(`${webUrl}/graphql?apiKey=${serverApiKey}&query=${encodeURIComponent('{ __schema { nothing } }')}`)
    await fetch(`${webUrl}/queues?key=${operatorKey}`, { headers: { 'x-operator-key': operatorKey } })
    const last = await fetch(`${webUrl}/graphql`, {
      method: 'POST',
      headers: { 'x-api-key': `${serverApiKey}x`, 'content-type': 'application/json' },
      body: '{"query":"{ catalog }"}',
    })
    const said = () => platform().lines.filter((line) => /^[\w-]+ +\| /.test(line))
    const traceId = last.headers.get('x-trace-id') ?? 'missing'
    await eventually('the last log line', () => said().some((line) => line.startsWith('web ') && line.includes(traceId)))
    for (const name of Object.keys(processes)) expect(said().some((line) => line.startsWith(`${name} `))).to.equal(true)
    const secrets = [serverApiKey, operatorKey, decodeURIComponent(new URL(databaseUrl).password)]
    for (const text of secrets) expect(text).to.have.length.above(8)
    expect(said().filter((line) => secrets.some((text) => line.includes(text)))).to.deep.equal([])
  })
})
