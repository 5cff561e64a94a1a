import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'chai'
import { findCycles, importsOf, loadedBy, readImports, type SourceImport } from '../support/imports.js'
import { isPure, rankOf, rooms } from '../support/rooms.js'

/** Doors stand beside each other: none knows another, though one of them is the first in the list. */
const doors = ['src/cli', 'src/sdk', 'src/web', 'src/sidecar', 'workers']

/** What files that only compute may use besides the project. `node:module` loads the calendars when the first time zone is met, and not before. */
const purePackages = ['dinero.js', 'lru-cache', 'node:crypto', 'node:module', 'temporal-polyfill', 'uuid', 'yaml', 'zod']

const doorOf = (folder: string) => doors.find((door) => folder === door || folder.startsWith(`${door}/`))

const imports = readImports(['src', 'workers']).filter(({ to }) => !to.startsWith('.generated'))
const ofProject = imports.filter(({ isPackage }) => !isPackage)
const shown = ({ from, to }: SourceImport) => `${from} imports ${to}`

describe('architecture', () => {
  it('knows the room of every file', () => {
    const files = ['src', 'workers'].flatMap((top) =>
      readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => `${top}/${file}`),
    )
    const folders = new Set(files.filter((file) => file.endsWith('.ts')).map((file) => dirname(file)))
    expect([...folders].filter((folder) => !rooms.includes(folder))).to.deep.equal([])
    expect(rooms.filter((room) => !folders.has(room))).to.deep.equal([])
  })

  it('lets a file import from its own room and from those before it', () => {
    const wrong = ofProject.filter(({ from, to }) => rankOf(to) > rankOf(from))
    expect(wrong.map(shown)).to.deep.equal([])
  })

  it('lets no door know another', () => {
    const wrong = ofProject.filter(({ from, to }) => {
      const [importing, imported] = [doorOf(dirname(from)), doorOf(dirname(to))]
      return importing !== undefined && imported !== undefined && importing !== imported
    })
    expect(wrong.map(shown)).to.deep.equal([])
  })

  it('keeps what only computes free of IO', () => {
    const wrong = imports.filter(({ from, to, isPackage, isTypeOnly }) => {
      if (!isPure(dirname(from)) || isTypeOnly) return false
      return isPackage ? !purePackages.includes(to) : !isPure(dirname(to))
    })
    expect(wrong.map(shown)).to.deep.equal([])
  })

  it('lets nobody but the folder of changes note one', () => {
    const sources = ['src', 'workers'].flatMap((top) =>
      readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => `${top}/${file}`),
    )
    const users = sources.filter((file) => file.endsWith('.ts') && /\bnoteChange\b/.test(readFileSync(file, 'utf8')))
    expect(users.filter((file) => !file.startsWith('src/changes/'))).to.deep.equal([])
  })

  it('has no import cycle, not even of types', () => {
    expect(findCycles(imports)).to.deep.equal([])
  })

  it('has rooms that one can survey: at most 25 files beside each other, none of over 350 lines', () => {
    const byFolder = new Map<string, number>()
    const long: string[] = []
    for (const top of ['src', 'workers'])
      for (const name of readdirSync(top, { recursive: true, encoding: 'utf8' })) {
        const file = `${top}/${name}`
        if (!file.endsWith('.ts')) continue
        byFolder.set(dirname(file), (byFolder.get(dirname(file)) ?? 0) + 1)
        const lines = readFileSync(file, 'utf8').split('\n').length - 1
        if (lines > 350) long.push(`${file}: ${lines}`)
      }
    expect([...byFolder].filter(([, count]) => count > 25)).to.deep.equal([])
    expect(long).to.deep.equal([])
  })

  it('keeps the database and the front door out of the sidecar’s process', () => {
    const loaded = loadedBy('src/sidecar/main', imports)
    expect(loaded).to.include('@grpc/grpc-js')
    const heavy = [...loaded].filter((file) =>
      /^(@prisma|pg$|koa$|@koa|type-graphql|graphql$|bullmq|class-validator)|^\.generated|platform\/(postgres|queue)$|^src\/web/.test(file),
    )
    expect(heavy).to.deep.equal([])
  })

  it('keeps all but a few packages out of the processes that have the server SDK', () => {
    // With what it loads in one mode only.
    const parts = [
      'sdk/server/index',
      'reader/api/real-time-updates',
      'reader/cache/redis',
      'reader/source/external-source',
      'updates/external-cache/writer',
    ]
    const loaded = [...new Set(parts.flatMap((file) => [...loadedBy(`src/${file}`, imports)]))]
    const packages = loaded.filter((file) => !/^(src\/|node:)/.test(file))
    expect(packages.sort()).to.deep.equal(['graphql-ws', 'ioredis', 'lru-cache', 'uuid', 'ws'])
    const rooms =
      /^src\/(kernel|reader|sdk|updates\/(wire|external-cache)|entitlement\/rules|(metering|catalog|changes)\/model)\/|^src\/platform\/(redis(\/|$)|context\/(scope|tracing)$)/
    expect(loaded.filter((file) => file.startsWith('src/') && !rooms.test(file))).to.deep.equal([])
  })

  it('keeps the command that works from outside by itself', () => {
    const others = [...loadedBy('src/cli/main', imports)].filter((file) => !/^(src\/(cli|kernel)\/|node:|yaml$)/.test(file))
    expect(others).to.deep.equal([])
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
