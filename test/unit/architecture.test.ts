import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import { findCycles, importsOf, loadedBy, readImports, type SourceImport } from '../support/imports.js'

const domains = ['billing', 'catalog', 'customer', 'entitlement', 'environment', 'metering', 'subscription', 'updates']

/**
 * Files of a domain that do IO under a name of their own; all others are `service`, `repository` or `jobs`, or pure. What is added here is a
 * decision: a name says more than the four words, and the file is small.
 */
const ioFiles = new Set([
  'src/billing/ledger',
  'src/billing/sync',
  'src/catalog/records/list-columns',
  'src/customer/records/list-columns',
  'src/customer/records/state-version',
  'src/entitlement/records/list-columns',
  'src/metering/intake/backlog',
  'src/metering/intake/config',
  'src/metering/aggregation/batch-sweep',
  'src/metering/counting/budget-check',
  'src/metering/counting/compute-usage',
  'src/metering/corrections/corrections',
  'src/metering/counting/counter-batch',
  'src/metering/counting/current-usage',
  'src/platform/database-clock',
  'src/metering/ingestion/direct-ingestion',
  'src/metering/intake/door',
  'src/metering/aggregation/event-aggregation',
  'src/metering/ingestion/events/event-ingestion',
  'src/metering/retention/event-retention',
  'src/metering/ingestion/reports/fast/fast-count',
  'src/platform/gatherer',
  'src/metering/history/grouped-usage',
  'src/metering/ingestion/ingestion',
  'src/metering/ingestion/ingestion-metrics',
  'src/metering/retention/key-pruning',
  'src/metering/corrections/recomputation',
  'src/metering/corrections/recompute-customers',
  'src/metering/ingestion/reports/report-ingestion',
  'src/metering/counting/rollup',
  'src/metering/counting/series-tracker',
  'src/platform/transaction',
  'src/metering/counting/usage-filling',
  'src/subscription/records/list-columns',
  'src/updates/stream/change-stream',
  'src/updates/deliver/delivery',
  'src/updates/external-cache/config',
  'src/updates/external-cache/state-api',
  'src/updates/external-cache/writer',
  'src/changes/held-change',
  'src/updates/held/held-states',
  'src/updates/deliver/known-states',
  'src/updates/deliver/nudges',
  'src/changes/record',
  'src/updates/held/shared-states',
  'src/updates/deliver/sinks',
  'src/changes/state-bus',
  'src/updates/held/state-cache',
])

/** What a pure file may use beside the project: values in, values out. */
// `node:module` to load the calendars when the first time zone is met, and not before.
const purePackages = new Set(['dinero.js', 'lru-cache', 'node:crypto', 'node:module', 'temporal-polyfill', 'uuid', 'yaml', 'zod'])

type Layer = 'kernel' | 'platform' | 'pure' | 'io' | 'app' | 'migrate' | 'web' | 'sidecar' | 'sdk' | 'worker' | 'local' | 'generated'

function layerOf(file: string): Layer {
  const [top, folder = '', ...rest] = file.split('/')
  if (top === '.generated') return 'generated'
  if (top === 'workers') return 'worker'
  if (folder === 'app' || folder === 'migrate') return folder
  if (domains.includes(folder)) return isIo(file, rest.at(-1)!) ? 'io' : 'pure'
  return folder as Layer
}

const isIo = (file: string, name: string) => ioFiles.has(file) || /^(service|repository|jobs)\b|-repository$/.test(name)
const isRepository = (file: string) => /(^|\/)([\w-]+-)?repository(-[\w-]+)?$/.test(file)
const folderOf = (file: string) => file.split('/').slice(0, 2).join('/')

/** Who may know whom; a layer may always know itself, but for doors: each stands alone. */
const mayImport: Record<Layer, Layer[]> = {
  kernel: [],
  platform: ['kernel', 'generated'],
  pure: ['kernel'],
  io: ['kernel', 'platform', 'pure'],
  app: ['kernel', 'platform', 'pure', 'io'],
  migrate: ['kernel', 'platform'],
  web: ['kernel', 'platform', 'pure', 'io', 'app'],
  sidecar: ['kernel', 'platform', 'pure', 'io'],
  // Client libraries know the published interfaces and nothing of ours.
  sdk: [],
  worker: ['kernel', 'platform', 'pure', 'io', 'app'],
  // The demo speaks with the sidecar in its own words.
  local: ['kernel', 'platform', 'pure', 'io', 'app', 'migrate', 'sidecar'],
  generated: [],
}

const imports = readImports(['src', 'workers'])
const shown = ({ from, to }: SourceImport) => `${from} imports ${to}`

describe('architecture', () => {
  it('has files in known places only, and no exception for a file that is gone', () => {
    const all = new Set(readdirSync('src', { recursive: true, encoding: 'utf8' }).map((file) => `src/${file.replace(/\.ts$/, '')}`))
    expect([...ioFiles].filter((file) => !all.has(file))).to.deep.equal([])
    const known = [...domains, 'kernel', 'platform', 'web', 'sidecar', 'sdk', 'local', 'app.ts', 'migrate.ts']
    expect(readdirSync('src').filter((name) => !known.includes(name))).to.deep.equal([])
  })

  it('points from the doors to the kernel, never back', () => {
    const wrong = imports.filter(({ from, to, isPackage, isTypeOnly }) => {
      if (isPackage) return false
      const [importing, imported] = [layerOf(from), layerOf(to)]
      // Rules may name the shape of what their own repository has loaded for them.
      if (importing === 'pure' && imported === 'io' && isTypeOnly && folderOf(from) === folderOf(to)) return false
      if (importing === imported) return importing === 'worker'
      return !mayImport[importing].includes(imported)
    })
    expect(wrong.map(shown)).to.deep.equal([])
  })

  it('keeps the rules of a domain free of IO', () => {
    const wrong = imports.filter(
      ({ from, to, isPackage, isTypeOnly }) =>
        isPackage && !isTypeOnly && ['kernel', 'pure'].includes(layerOf(from)) && !purePackages.has(to),
    )
    expect(wrong.map(shown)).to.deep.equal([])
  })

  it('lets a repository be used by its own domain and the composition root only', () => {
    const wrong = imports.filter(
      ({ from, to }) => isRepository(to) && folderOf(from) !== folderOf(to) && !['app', 'worker'].includes(layerOf(from)),
    )
    expect(wrong.map(shown)).to.deep.equal([])
  })

  it('has no import cycle, not even of types', () => {
    expect(findCycles(imports)).to.deep.equal([])
  })

  it('keeps the database and the front door out of the sidecar’s process', () => {
    const loaded = loadedBy('src/sidecar/main', imports)
    expect(loaded).to.include('@grpc/grpc-js')
    const heavy = [...loaded].filter((file) =>
      /^(@prisma|pg$|koa$|@koa|type-graphql|graphql$|bullmq|class-validator)|^\.generated|platform\/(postgres|queue)$|^src\/web/.test(file),
    )
    expect(heavy).to.deep.equal([])
  })

  it('keeps the database out of the worker that runs beside an external cache', () => {
    const loaded = [...loadedBy('workers/queue-consumption', imports)]
    expect(loaded).to.include('bullmq')
    expect(loaded.filter((file) => /^(@prisma|pg$|koa$|type-graphql)|^\.generated|platform\/postgres$/.test(file))).to.deep.equal([])
  })
})

describe('reading imports', () => {
  const targets = (text: string) => importsOf('src/a/b.ts', text).map(({ to, isTypeOnly }) => (isTypeOnly ? `type ${to}` : to))

  it('knows every way to write one', () => {
    expect(targets(`import x from './c.js'`)).to.deep.equal(['src/a/c'])
    expect(targets(`import { \n  a, \n  type B, \n } from '../d/e.js'`)).to.deep.equal(['src/d/e'])
    expect(targets(`import type { B } from './c.js'`)).to.deep.equal(['type src/a/c'])
    expect(targets(`import { type B } from './c.js'`)).to.deep.equal(['src/a/c'])
    expect(targets(`import 'reflect-metadata'`)).to.deep.equal(['reflect-metadata'])
    expect(targets(`import * as fs from 'node:fs'`)).to.deep.equal(['node:fs'])
    expect(targets(`export type { B } from './c.js'\nexport { d } from './d.js'`)).to.deep.equal(['type src/a/c', 'src/a/d'])
    expect(targets(`const x = await import('./c.js')`)).to.deep.equal(['src/a/c'])
    expect(targets(`import { a } from '@scope/name/deep/file.js'`)).to.deep.equal(['@scope/name'])
    expect(targets(`export const text = 'hello from'\nexport type T = 'a'`)).to.deep.equal([])
  })

  it('finds rings, and says who is in them', () => {
    const ring = ['a', 'b', 'c'].map((name, index) => ({
      from: name,
      to: ['b', 'c', 'a'][index]!,
      isPackage: false,
      isTypeOnly: true,
      isDynamic: false,
    }))
    expect(findCycles(ring)).to.deep.equal(['a > b > c > a'])
    expect(findCycles(ring.slice(1))).to.deep.equal([])
  })
})
