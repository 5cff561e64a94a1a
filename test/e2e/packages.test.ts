import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { parse } from 'yaml'
import { type BuiltPackage, buildPackages } from '../../src/local/packages/build.js'
import { referencesOf } from '../../src/local/packages/references.js'
import { runCommand } from '../../src/local/processes/run-command.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../integration/web/whole-platform.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** What each depends on, and the rooms that its files are of. Neither has the database, its client, the front door or the queues. */
const expected: Record<string, { dependencies: string[]; rooms: RegExp; others: string[] }> = {
  'tollgate-server': {
    dependencies: ['graphql', 'graphql-ws', 'ioredis', 'lru-cache', 'temporal-polyfill', 'uuid', 'ws'],
    rooms:
      /^(kernel|reader\/\w+|sdk|sdk\/server(\/operations(\/types)?)?|updates\/(wire|external-cache)|entitlement\/rules|(metering|catalog|changes)\/model|platform(\/(redis|context))?)\/[\w-]+\.(js|d\.ts)$/,
    others: [],
  },
  'tollgate-sidecar': {
    dependencies: [
      '@grpc/grpc-js',
      '@grpc/proto-loader',
      '@grpc/reflection',
      'envalid',
      'graphql',
      'graphql-ws',
      'grpc-health-check',
      'ioredis',
      'lru-cache',
      'pino',
      'prom-client',
      'temporal-polyfill',
      'uuid',
      'ws',
    ],
    rooms:
      /^(kernel|reader\/\w+|sdk|sdk\/sidecar|sidecar|sidecar\/(config|grpc|metrics)|updates\/(wire|external-cache)|entitlement\/rules|metering\/model|platform(\/(redis|context))?|wiring)\/[\w-]+\.(js|d\.ts)$/,
    others: ['proto/google/rpc/error_details.proto', 'proto/google/rpc/status.proto', 'proto/service/sidecar/v1/sidecar.proto'],
  },
  tollgate: { dependencies: ['yaml'], rooms: /^(kernel|cli)\/[\w-]+\.js$/, others: [] },
}

/** Of a README: its blocks in that language. */
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block]) => block!)

describe('installed packages', () => {
  let platform: WholePlatform
  let environment: TestEnvironment
  /** The project of somebody who has nothing of the repository. */
  let folder: string
  let built: BuiltPackage[]

  const inside = (name: string, path = '') => join(folder, 'node_modules', name, path)
  const manifestOf = (name: string) =>
    JSON.parse(readFileSync(inside(name, 'package.json'), 'utf8')) as { dependencies: Record<string, string>; bin?: Record<string, string> }
  const run = (command: string, args: string[], variables: Record<string, string> = {}) =>
    runCommand(command, args, { cwd: folder, env: { PATH: process.env.PATH, TMPDIR: tmpdir(), TOLLGATE_URL: platform.url, ...variables } })

  /**
   * Unpacked as npm does it, so that no registry is needed: only what a package declares is beside it, and what that needs is found in the repository, which
   * has the same versions.
   */
  async function install({ name, tarball }: BuiltPackage): Promise<void> {
    mkdirSync(inside(name), { recursive: true })
    await runCommand('tar', ['-xzf', tarball, '-C', inside(name), '--strip-components=1'])
    const { dependencies, bin = {} } = manifestOf(name)
    for (const dependency of Object.keys(dependencies)) {
      mkdirSync(dirname(inside(dependency)), { recursive: true })
      rmSync(inside(dependency), { force: true })
      symlinkSync(join(root, 'node_modules', dependency), inside(dependency))
    }
    for (const [command, file] of Object.entries(bin)) symlinkSync(inside(name, file), inside('.bin', command))
  }

  before(async function () {
    this.timeout(120_000)
    platform = await openWholePlatform()
    environment = await platform.createEnvironment('packages', parse(readFileSync(join(root, 'src/local/example-catalog.yaml'), 'utf8')))
    folder = mkdtempSync(join(tmpdir(), 'tollgate-packages-'))
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    mkdirSync(inside('.bin'), { recursive: true })
    built = await buildPackages(root, join(folder, 'packages'))
    for (const one of built) await install(one)
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    expect(await platform.close()).to.deep.equal([])
  })

  it('are the server SDK, the Sidecar SDK and the command line', () => {
    expect(built.map(({ name }) => name)).to.have.members(Object.keys(expected))
  })

  for (const [name, { dependencies, rooms, others }] of Object.entries(expected))
    it(`${name} has few dependencies, no file of other rooms, and every file that it refers to`, () => {
      expect(Object.keys(manifestOf(name).dependencies)).to.deep.equal(dependencies)
      const files = readdirSync(inside(name), { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(inside(name).length + 1))
      const code = files.filter((file) => file.startsWith('dist/src/'))
      expect(files.filter((file) => !code.includes(file)).sort()).to.deep.equal(['LICENSE', 'README.md', 'package.json', ...others])
      expect(code.map((file) => file.slice('dist/src/'.length)).filter((file) => !rooms.test(file))).to.deep.equal([])
      const missing = code.flatMap((file) => {
        const { files: named, addresses } = referencesOf(readFileSync(inside(name, file), 'utf8'))
        const targets = [...named.map((path) => (file.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path)), ...addresses]
        return targets
          .map((target) => join(dirname(file), target))
          .filter((path) => !files.some((one) => one === path || one.startsWith(`${path}/`)))
      })
      expect(missing).to.deep.equal([])
    })

  it('have the programs of their READMEs run, as modules and in CommonJS, with types that are right', async function () {
    this.timeout(60_000)
    for (const name of ['@types/node', '@types']) mkdirSync(dirname(inside(name)), { recursive: true })
    symlinkSync(join(root, 'node_modules/@types/node'), inside('@types/node'))
    await environment.ask('mutation { provisionCustomer(input: {customerId: "first"}) { customer { id } } }')
    const names = ['tollgate-server', 'tollgate-sidecar']
    const programs = names.flatMap((name) => {
      const text = readFileSync(inside(name, 'README.md'), 'utf8')
      const [modules, commonJs] = [blocksOf(text, 'ts'), blocksOf(text, 'js')]
      expect([modules.length, commonJs.length]).to.deep.equal([1, 1])
      // The same import in TypeScript that is compiled to CommonJS.
      const typed = `${modules[0]!.split('\n')[0]}\nexport type Answer = Awaited<ReturnType<typeof ${/\{ (\w+) \}/.exec(modules[0]!)![1]}>>\n`
      return [
        { file: `${name}.mts`, text: modules[0]! },
        { file: `${name}.cjs`, text: commonJs[0]! },
        { file: `${name}-typed.cts`, text: typed },
      ]
    })
    for (const { file, text } of programs) writeFileSync(join(folder, file), text)
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      allowJs: true,
      checkJs: true,
      types: ['node'],
      outDir: 'out',
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: programs.map(({ file }) => file) }))
    await run(process.execPath, [join(root, 'node_modules/typescript-compiler/bin/tsc')])

    const printed = await Promise.all(
      ['mjs', 'cjs'].flatMap((form) =>
        names.map((name) => run(process.execPath, [`out/${name}.${form}`], { SERVER_API_KEY: environment.serverKey })),
      ),
    )
    expect(printed).to.deep.equal(['granted\n', 'granted\n', 'granted\n', 'granted\n'])
    // Not by a fallback: the usage of both is counted.
    const { data } = await environment.ask('{ entitlement(query: {customerId: "first", featureId: "api-calls"}) { currentUsage } }')
    expect(data).to.deep.equal({ entitlement: { currentUsage: 2 } })
  })

  it('have the commands of the README run', async function () {
    this.timeout(30_000)
    const [, commands] = blocksOf(readFileSync(inside('tollgate', 'README.md'), 'utf8'), 'sh')
    const variables = { TOLLGATE_API_KEY: environment.serverKey, npm_config_offline: 'true' }
    const printed = await run('/bin/sh', ['-ec', commands!], variables)
    expect(printed).to.include('catalog.yaml')
    expect(parse(readFileSync(join(folder, 'catalog.yaml'), 'utf8'))).to.include.keys('version', 'features', 'plans')
    expect(await run(join(folder, 'node_modules/.bin/tollgate'), ['--help'])).to.match(/^Usage: tollgate <command>/)
  })
})
