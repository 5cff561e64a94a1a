import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { listen } from '../../../src/platform/health.js'
import { packageRoot } from '../../../src/web/pages/package-files.js'
import { type FrontDoor, openFrontDoor } from '../web/front-door.js'
import { type Ran, run } from './command.js'

describe('tollgate catalog', function () {
  this.timeout(60_000)
  let door: FrontDoor
  let folder: string

  before(async () => {
    door = await openFrontDoor()
    folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    expect(await door.close()).to.deep.equal([])
  })

  /** A new environment with nothing in it, and the command with its key. */
  let count = 0
  async function environment() {
    count += 1
    const refId = `environment-${count}`
    await door.app.environments.create({ refId })
    const { key } = await door.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'tests', expiresAt: null })
    const variables = { TOLLGATE_URL: door.url, TOLLGATE_API_KEY: key }
    return (...args: string[]): Promise<Ran> => run(['catalog', ...args], variables, folder)
  }
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  const edit = (file: string, from: string | RegExp, to: string) => write(file, read(file).replace(from, to))

  const first = `# What we sell.
features:
  - { refId: exports, type: NUMBER, meter: Incremental, units: export } # counted
products:
  - refId: studio
plans:
  - refId: solo
    product: studio
    entitlements:
      - { feature: exports, limit: 25, resetPeriod: MONTH }
`

  it('pushes a first catalog, and notes its version in the file, which is otherwise as it was written', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    const pushed = await catalog('push', 'first.yaml')
    expect(pushed, pushed.errors).to.include({ code: 0, errors: '' })
    expect(pushed.output).to.include('Changed:\n  create feature exports\n  create product studio\n  create plan solo\n')
    const [, version] = /version: (v[0-9a-f]{16})\n/.exec(read('first.yaml'))!
    expect(pushed.output).to.include(`at version ${version}, as first.yaml says now`)
    expect(read('first.yaml')).to.equal(first.replace('features:', `version: ${version}\nfeatures:`))
    expect(await catalog('push', 'first.yaml')).to.include({ code: 0, output: `Nothing to change\nThe catalog is at version ${version}` })
    expect(await catalog('diff', 'first.yaml')).to.include({ code: 0, output: 'No difference' })
  })

  for (const file of ['round.yaml', 'round.json']) {
    it(`pulls, shows what an edit would change, and pushes it: ${file}`, async () => {
      const catalog = await environment()
      write('first.yaml', first)
      await catalog('push', 'first.yaml')
      expect((await catalog('pull', file)).code).to.equal(0)
      expect(parse(read(file)).plans[0].entitlements[0]).to.include({ feature: 'exports', limit: 25 })
      expect(await catalog('diff', file)).to.include({ code: 0, output: 'No difference' })

      edit(file, /(limit"?: )25/, '$175')
      const difference = await catalog('diff', file)
      expect(difference).to.include({ code: 2, errors: '' })
      expect(difference.output).to.equal('Pushing would change:\n  publish plan solo\n      entitlements["exports"].limit: "25" → "75"')
      const { changes, version } = JSON.parse((await catalog('diff', file, '--json')).output)
      expect(changes[0]).to.include({ action: 'publish', kind: 'plan', refId: 'solo' })
      expect(version).to.equal(parse(read(file)).version)

      const edited = read(file)
      const pushed = await catalog('push', file, '--json')
      expect(pushed, pushed.errors).to.include({ code: 0 })
      const now = JSON.parse(pushed.output).version
      expect(now).not.to.equal(version)
      expect(read(file)).to.equal(edited.replace(version, now))
      expect((await catalog('diff', file)).code).to.equal(0)
    })
  }

  it('refuses who pulled before somebody else pushed, with the difference, and changes neither catalog nor file', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    await catalog('push', 'first.yaml')
    await catalog('pull', 'ours.yaml')
    await catalog('pull', 'theirs.yaml')
    edit('theirs.yaml', 'units: export', 'units: file')
    expect((await catalog('push', 'theirs.yaml')).code).to.equal(0)

    edit('ours.yaml', 'limit: 25', 'limit: 40')
    const ours = read('ours.yaml')
    const refused = await catalog('push', 'ours.yaml')
    expect(refused).to.include({ code: 1, output: '' })
    expect(refused.errors).to.include('The catalog has changed since ours.yaml was pulled: nothing was pushed.')
    expect(refused.errors).to.include('units: "file" → "export"').and.include('limit: "25" → "40"')
    expect(read('ours.yaml')).to.equal(ours)
    const inForce = parse((await catalog('pull', '-')).output)
    expect(inForce.features[0].units).to.equal('file')
    expect(inForce.plans[0].entitlements[0].limit).to.equal(25)

    const difference = await catalog('diff', 'ours.yaml')
    expect(difference.code).to.equal(2)
    expect(difference.output).to.match(/^The catalog has changed since ours\.yaml was pulled: pushing it is refused\./)
    const error = JSON.parse((await catalog('push', 'ours.yaml', '--json')).errors)
    expect(error.error).to.include({ code: 'CatalogVersionMismatch', version: inForce.version })
    expect(error.error.changes).to.have.length(2)

    // Whoever has read the difference and means it says so.
    edit('ours.yaml', parse(ours).version, inForce.version)
    expect((await catalog('push', 'ours.yaml')).code).to.equal(0)
  })

  it('takes an edit that somebody else has made too for what it is: nothing to change', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    await catalog('push', 'first.yaml')
    for (const file of ['one.yaml', 'two.yaml']) {
      await catalog('pull', file)
      edit(file, 'limit: 25', 'limit: 30')
    }
    expect((await catalog('push', 'one.yaml')).output).to.include('publish plan solo')
    expect((await catalog('diff', 'two.yaml')).code).to.equal(0)
    expect((await catalog('push', 'two.yaml')).output).to.match(/^Nothing to change\n/)
    expect(read('two.yaml')).to.equal(read('one.yaml'))
  })

  it('lets one of two pushes at once through, and refuses the other', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    await catalog('push', 'first.yaml')
    const files = ['limit-31.yaml', 'limit-32.yaml', 'limit-33.yaml']
    for (const file of files) {
      await catalog('pull', file)
      edit(file, 'limit: 25', `limit: ${file.slice(6, 8)}`)
    }
    const ran = await Promise.all(files.map((file) => catalog('push', file)))
    expect(ran.map(({ code }) => code).sort()).to.deep.equal([0, 1, 1])
    const winner = files[ran.findIndex(({ code }) => code === 0)]!
    expect(parse((await catalog('pull', '-')).output).plans[0].entitlements[0].limit).to.equal(Number(winner.slice(6, 8)))
    expect((await catalog('diff', winner)).code).to.equal(0)
  })

  it('tells who pulled before something was archived why the file no longer fits', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    await catalog('push', 'first.yaml')
    await catalog('pull', 'partial.yaml')
    const { version } = parse(read('partial.yaml'))
    write(
      'partial.yaml',
      `version: ${version}\nplans:\n  - { refId: duo, product: studio, entitlements: [{ feature: exports, limit: 9 }] }\n`,
    )
    write('empty.yaml', `version: ${version}\nfeatures: []\n`)
    expect((await catalog('push', 'empty.yaml', '--archive-missing')).code).to.equal(0)
    for (const command of ['diff', 'push']) {
      const refused = await catalog(command, 'partial.yaml')
      expect(refused.code).to.equal(1)
      expect(refused.errors).to.include('the file no longer fits it').and.include("there is no product 'studio'")
    }
  })

  it('leaves what a file leaves out, unless it is to be archived', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    await catalog('push', 'first.yaml')
    edit('first.yaml', /plans:[\s\S]*/, '')
    expect((await catalog('diff', 'first.yaml')).code).to.equal(0)
    const difference = await catalog('diff', 'first.yaml', '--archive-missing')
    expect(difference).to.include({ code: 2, output: 'Pushing would change:\n  archive plan solo' })
    expect((await catalog('push', 'first.yaml', '--archive-missing')).code).to.equal(0)
    expect(parse((await catalog('pull', '-')).output)).not.to.have.property('plans')
    expect((await catalog('diff', 'first.yaml', '--archive-missing')).code).to.equal(0)
  })

  it('refuses a file without a version where there is a catalog already, and says how to go on', async () => {
    const catalog = await environment()
    write('first.yaml', first)
    await catalog('push', 'first.yaml')
    write('other.yaml', 'features:\n  - { refId: exports, displayName: Exports, type: NUMBER, meter: Incremental }\n')
    const refused = await catalog('push', 'other.yaml')
    expect(refused.code).to.equal(1)
    expect(refused.errors).to.include('other.yaml has no version').and.include('update feature exports').and.include('units: "export" → –')
    expect((await catalog('diff', 'other.yaml')).code).to.equal(2)
  })

  it('keeps a file that is there when pulling, unless it is to be replaced', async () => {
    const catalog = await environment()
    write('kept.yaml', '# mine\n')
    expect(await catalog('pull', 'kept.yaml')).to.include({ code: 1 })
    expect(read('kept.yaml')).to.equal('# mine\n')
    expect(await catalog('pull', 'kept.yaml', '--overwrite')).to.include({ code: 0 })
    expect(parse(read('kept.yaml'))).to.have.all.keys('version')
  })

  it('says what is wrong with a document, each with its place, and changes nothing', async () => {
    const catalog = await environment()
    write('wrong.yaml', 'plans:\n  - { refId: basic, prodct: cloud }\n')
    for (const command of ['diff', 'push']) {
      const { code, output, errors } = await catalog(command, 'wrong.yaml')
      expect([code, output]).to.deep.equal([1, ''])
      expect(errors)
        .to.include('The document was refused (2 problems):')
        .and.include("plans[0].prodct is not a known key; did you mean 'product'?")
    }
    write('broken.yaml', 'plans: [\n')
    expect((await catalog('push', 'broken.yaml')).errors).to.match(/^broken\.yaml cannot be read at line 2, column 1: /)
    write('number.yaml', 'version: 7\n')
    expect((await catalog('push', 'number.yaml')).errors).to.match(/^number\.yaml has a version that is no text/)
    expect((await catalog('push', 'nothing.yaml')).errors).to.equal('There is no file nothing.yaml: catalog pull makes one')
    expect((await catalog('push')).errors).to.equal('There is no file catalog.yaml: catalog pull makes one')
  })

  describe('that cannot ask', () => {
    const key = () => ({ TOLLGATE_API_KEY: door.serverKey, TOLLGATE_URL: door.url })
    let nobodyAt: string
    before(async () => {
      const gone = createServer()
      nobodyAt = `http://127.0.0.1:${await listen(gone, { port: 0, host: '127.0.0.1' })}`
      await new Promise((closed) => gone.close(closed))
    })
    const cases: [string, () => Record<string, string>, RegExp][] = [
      ['no key', () => ({ TOLLGATE_URL: door.url }), /^TOLLGATE_API_KEY is not set: it must hold a server key of the environment/],
      [
        'a key of nobody',
        () => ({ ...key(), TOLLGATE_API_KEY: `server-${'x'.repeat(40)}` }),
        /does not accept the key of TOLLGATE_API_KEY: The API key is/,
      ],
      [
        'a key that no header takes',
        () => ({ ...key(), TOLLGATE_API_KEY: 'schlüssel 1' }),
        /^TOLLGATE_API_KEY has characters that no key has/,
      ],
      [
        'a client key',
        () => ({ ...key(), TOLLGATE_API_KEY: door.clientKey }),
        /^The key of TOLLGATE_API_KEY may not do this: \w+ needs a server key/,
      ],
      [
        'no server',
        () => ({ ...key(), TOLLGATE_URL: nobodyAt }),
        /^No Tollgate answers at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\): start it, or set TOLLGATE_URL/,
      ],
      ['no address', () => ({ ...key(), TOLLGATE_URL: 'localhost:4000' }), /^TOLLGATE_URL must be an address such as/],
      [
        'an address with a password in it',
        () => ({ ...key(), TOLLGATE_URL: 'http://somebody:hidden@127.0.0.1:4000' }),
        /^TOLLGATE_URL must be an address without a user name and password$/,
      ],
    ]
    for (const [what, variables, message] of cases) {
      for (const command of ['pull', 'diff', 'push'])
        it(`${command} with ${what}: ends with 1, says what to do, and shows no key`, async () => {
          write('asked.yaml', 'features: []\n')
          const { code, output, errors } = await run(['catalog', command, command === 'pull' ? '-' : 'asked.yaml'], variables(), folder)
          expect([code, output]).to.deep.equal([1, ''])
          expect(errors).to.match(message)
          const { TOLLGATE_API_KEY = 'nothing' } = variables()
          expect(errors).not.to.include(TOLLGATE_API_KEY)
        })
    }

    it('says when something else than a Tollgate answers', async () => {
      const answers: [number, string, RegExp][] = [
        [404, '<html>', /\/graphql \(HTTP 404\) is no Tollgate/],
        [200, '[]', /\(HTTP 200\) is no Tollgate/],
        [503, 'busy', /cannot answer at the moment \(HTTP 503\): try again/],
      ]
      for (const [status, body, message] of answers) {
        const server = createServer((_, response) => response.writeHead(status).end(body))
        const url = `http://127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}`
        try {
          expect((await run(['catalog', 'pull', '-'], { ...key(), TOLLGATE_URL: url })).errors).to.match(message)
        } finally {
          await new Promise((closed) => server.close(closed))
        }
      }
    })

    it('takes no key from the command line, and explains itself without one', async () => {
      expect((await run(['catalog', 'pull', '--api-key', door.serverKey], key())).code).to.equal(1)
      const { code, output } = await run(['--help'], {})
      expect(code).to.equal(0)
      expect(output).to.include('TOLLGATE_API_KEY').and.include('catalog push [file]').and.include('Keys are never options')
      expect((await run(['catalog', 'diff', '--help'], {})).output).to.include('exit code 2')
    })
  })

  it('is a program: variables in, text and exit code out', async () => {
    const main = join(packageRoot, 'dist/src/cli/main.js')
    const start = (variables: Record<string, string>) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        const env = { PATH: process.env.PATH, ...variables }
        execFile(process.execPath, [main, 'catalog', 'pull', '-'], { cwd: folder, env }, (error, stdout, stderr) =>
          resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr }),
        )
      })
    const pulled = await start({ TOLLGATE_URL: `${door.url}/`, TOLLGATE_API_KEY: door.serverKey })
    expect(pulled).to.include({ code: 0, stderr: '' })
    expect(parse(pulled.stdout)).to.have.all.keys('version', 'features', 'products', 'plans', 'addons', 'coupons')
    expect(await start({ TOLLGATE_URL: door.url })).to.include({ code: 1, stdout: '' })
  })
})
