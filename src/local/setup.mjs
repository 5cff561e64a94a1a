// Makes a clone runnable: dependencies, the database client, compiled code. Runs before `npm start`, `npm test` and their like.
// Nothing but Node's own modules, because nothing else is installed yet. Says nothing when there is nothing to do.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const isQuiet = process.argv.includes('--quiet')
const at = (...parts) => path.join(root, ...parts)

/** A failure that the reader can do something about: printed as a sentence, without a stack. */
class SetupProblem extends Error {}

function say(line) {
  if (!isQuiet) console.log(line)
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

function checkNode() {
  const wanted = JSON.parse(readText(at('package.json'))).engines.node
  const minimum = wanted.replace(/^>=/, '').split('.').map(Number)
  const actual = process.versions.node.split('.').map(Number)
  const difference = actual[0] - minimum[0] || actual[1] - (minimum[1] || 0)
  if (difference < 0)
    throw new SetupProblem(`Node ${wanted} is needed, this is ${process.versions.node}. Get a newer one from https://nodejs.org.`)
}

/** Whether npm's own record of what is in node_modules agrees with the lock file. Optional packages may be absent: they depend on the machine. */
function isInstalled() {
  const installedText = readText(at('node_modules', '.package-lock.json'))
  if (installedText === null) return false
  const installed = JSON.parse(installedText).packages
  const wanted = JSON.parse(readText(at('package-lock.json'))).packages
  return Object.entries(wanted).every(([folder, entry]) => {
    if (folder === '') return true
    const found = installed[folder]
    return found
      ? found.version === entry.version && found.integrity === entry.integrity
      : entry.optional === true || entry.devOptional === true
  })
}

let running = null
let ownedLock = null

// Told to stop, it stops what it runs too: an npm left behind would go on writing.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    running?.kill(signal)
    if (ownedLock) fs.rmSync(ownedLock, { force: true })
    process.exit(1)
  })
}

/** Runs a command, keeps the end of what it prints, and fails with a SetupProblem that `explain` words. */
function run(command, args, { env = {}, explain }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    running = child
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text) => {
        output = (output + text).slice(-20_000)
      })
    }
    child.once('error', (error) => reject(new SetupProblem(explain(String(error), error.code))))
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output)
      else reject(new SetupProblem(explain(output.trim(), signal ?? code)))
    })
  })
}

function explainInstall(output) {
  const advice = [
    [
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT/,
      'The npm registry cannot be reached. Check the network and the proxy (npm config get registry), then run the command again.',
    ],
    [/ENOSPC/, `The disk is full. Free some space (about 1 GB is needed in ${root}), then run the command again.`],
    [/EACCES|EPERM|EROFS/, `This user may not write to ${root}. Run as the owner of the folder, or give it to this user.`],
    [/ENOENT/, 'npm was not found. It comes with Node: see https://nodejs.org.'],
    [/EBADENGINE/, 'This Node version is too old for a dependency.'],
  ].find(([pattern]) => pattern.test(output))
  return `Dependencies could not be installed (npm ci).\n${output}\n\n${advice ? advice[1] : 'See npm’s message above.'}`
}

async function install() {
  if (isInstalled()) return
  say('Installing dependencies (npm ci), about 15 seconds …')
  // Run by npm, the same npm is used; by hand, the one on PATH. Install scripts of dependencies are not needed, so they are not run.
  // Development dependencies are: the compiler is one.
  const npm = process.env.npm_execpath
  const args = [
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=5000',
  ]
  if (npm?.endsWith('.js')) await run(process.execPath, [npm, ...args], { explain: explainInstall })
  else await run('npm', args, { explain: explainInstall })
  dropForeignNode()
}

/** The platform brings its own Node, which npm scripts find first. A system with another C library cannot run it, and keeps to the one it has. */
function dropForeignNode() {
  const own = at('node_modules', '.bin', 'node')
  if (fs.existsSync(own) && spawnSync(own, ['--version']).status !== 0) fs.rmSync(own)
}

async function generateClient() {
  const inputs = ['prisma/schema.prisma', '.config/prisma.ts', 'node_modules/prisma-cli/package.json']
  const hash = createHash('sha256')
  for (const input of inputs) hash.update(readText(at(input)) ?? '').update('\0')
  const stamp = at('.generated', 'prisma.stamp')
  const digest = hash.digest('hex')
  if (readText(stamp) === digest && fs.existsSync(at('.generated', 'prisma', 'client.ts'))) return
  say('Generating the database client …')
  await run(process.execPath, [at('node_modules', 'prisma-cli', 'build', 'index.js'), 'generate', '--config', at('.config', 'prisma.ts')], {
    env: { CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
    explain: (output) => `The database client could not be generated from prisma/schema.prisma.\n${output}`,
  })
  fs.writeFileSync(stamp, digest)
}

async function compile() {
  if (!fs.existsSync(at('dist', '.tsbuildinfo'))) say('Compiling …')
  // Incremental: about a second when nothing changed, and always right.
  await run(
    process.execPath,
    [at('node_modules', 'typescript-compiler', 'bin', 'tsc'), '--project', root, '--pretty', String(Boolean(process.stdout.isTTY))],
    {
      explain: (output, cause) =>
        /ENOSPC/.test(output)
          ? `The disk is full: ${at('dist')} could not be written.`
          : `The code does not compile.\n${output || `tsc ended with ${cause}`}`,
    },
  )
}

/** Whether the process that wrote its id into the lock still runs; a reused id is told apart by its command line where /proc has it. */
function isSetupRunning(pid) {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
  const commandLine = fs.existsSync('/proc/self/cmdline') ? readText(`/proc/${pid}/cmdline`) : 'setup.mjs'
  return Boolean(commandLine?.includes('setup.mjs'))
}

/** Two set-ups of one folder take turns: npm ci empties node_modules, and two compilers must not write one dist. */
async function withLock(work) {
  const lock = at('.cache', 'setup.lock')
  fs.mkdirSync(path.dirname(lock), { recursive: true })
  let hasSaidWaiting = false
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
      ownedLock = lock
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const owner = Number(readText(lock))
    if (owner > 0 && !isSetupRunning(owner)) {
      const aside = `${lock}.${process.pid}`
      try {
        fs.renameSync(lock, aside)
        // Someone may have replaced the stale lock between our look and our move: that one is given back.
        if (Number(readText(aside)) === owner) fs.unlinkSync(aside)
        else fs.renameSync(aside, lock)
      } catch (error) {
        if (error.code !== 'ENOENT') throw error
      }
      continue
    }
    if (!hasSaidWaiting && owner > 0) say(`Waiting for another set-up of this folder (process ${owner}) …`)
    hasSaidWaiting = true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  try {
    return await work()
  } finally {
    fs.rmSync(lock, { force: true })
  }
}

async function main() {
  checkNode()
  await withLock(async () => {
    await install()
    await generateClient()
    await compile()
  })
}

main().catch((error) => {
  const advice = {
    EACCES: `This user may not write to ${root}. Run as the owner of the folder, or give it to this user.`,
    EROFS: `${root} is on a read-only disk.`,
    ENOSPC: `The disk is full. Free some space in ${root}.`,
  }[error.code]
  console.error(error instanceof SetupProblem ? error.message : (advice ?? error))
  process.exitCode = 1
})
