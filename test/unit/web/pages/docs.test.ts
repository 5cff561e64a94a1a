import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Context } from 'koa'
import { parse } from 'yaml'
import { Allowance } from '../../../../src/environment/allowance.js'
import { Registry } from '../../../../src/platform/metrics.js'
import { serveDocs } from '../../../../src/web/pages/docs.js'
import { packageRoot } from '../../../../src/web/pages/package-files.js'

const folder = join(packageRoot, 'src/web/docs')
const pages = readdirSync(folder).map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))

/** The metrics of our own with their labels, as the sources declare them; null: the sources say the labels in another way. */
const declared = new Map<string, string[] | null>()
for (const folder of ['src', 'workers']) {
  const files = readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  for (const file of files) {
    const source = readFileSync(join(packageRoot, folder, file), 'utf8')
    for (const [, before, name, after] of source.matchAll(/(name: )?'((?:tollgate|sidecar)_[a-z_]+)'(?=([\s\S]{0,400}))/g)) {
      const own = after!.split(/\n\s*\}\)/)[0]!
      const labels = /labelNames: \[([^\]]*)\]/.exec(own)?.[1]
      declared.set(name!, before ? [...(labels ?? '').matchAll(/'(\w+)'/g)].map(([, label]) => label!) : null)
    }
  }
}

/** The metrics that a text names, with the labels that it names with them. */
const named = (text: string) =>
  [...text.matchAll(/\b((?:tollgate|sidecar)_[a-z_]*[a-z])(?:\{([^}]*)\})?/g)].flatMap(([, name, selector = '']) => {
    const base = name!.replace(/_(?:bucket|count|sum)$/, '')
    const labels = selector.split(',').flatMap((part) => /^\s*(\w+)/.exec(part)?.[1] ?? [])
    return declared.has(name!) || declared.has(base)
      ? [{ metric: declared.has(name!) ? name! : base, labels }]
      : [{ metric: name!, labels }]
  })

interface Rules {
  groups: { name: string; rules: { alert: string; expr: string }[] }[]
}

describe('the documentation', () => {
  it('knows the metrics of the sources', () => {
    expect([...declared.keys()]).to.include.members(['tollgate_usage_items_total', 'tollgate_jobs_waiting', 'tollgate_usage_lag_seconds'])
    expect(declared.get('tollgate_usage_items_total')).to.deep.equal(['kind', 'result'])
  })

  it('names only metrics and labels that there are', () => {
    const wrong = pages.flatMap(({ file, text }) =>
      named(text).flatMap(({ metric, labels }) => {
        const known = declared.get(metric)
        if (known === undefined) return [`${file}: ${metric}`]
        if (known === null) return []
        return labels.filter((label) => !known.includes(label)).map((label) => `${file}: ${metric}{${label}}`)
      }),
    )
    expect(wrong).to.deep.equal([])
  })

  it('has a page for operators that names every metric', () => {
    const { text } = pages.find(({ file }) => file === 'operations.md')!
    const known = new Set(named(text).map(({ metric }) => metric))
    expect([...declared.keys()].filter((metric) => !known.has(metric))).to.deep.equal([])
  })

  it('has alerts that Prometheus can read, each on a metric that there is', () => {
    const rules = pages.flatMap(({ text }) =>
      [...text.matchAll(/```yaml\n(groups:[\s\S]*?)```/g)].flatMap(([, yaml]) =>
        (parse(yaml!) as Rules).groups.flatMap((group) => group.rules),
      ),
    )
    expect(rules).to.have.length.above(5)
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length)
    for (const { alert, expr } of rules) expect(named(expr), alert).to.have.length.above(0)
  })

  it('tells of every metric of usage', () => {
    const text = pages.map((page) => page.text).join('\n')
    expect([...declared.keys()].filter((name) => /^tollgate_(?:usage|raw)_/.test(name) && !text.includes(name))).to.deep.equal([])
  })
})

describe('a page of the docs', () => {
  const metrics = new Registry()
  const docs = serveDocs([], {}, { metrics })
  const shown = async (path: string, host: string, proto?: string) => {
    const ctx = { path, host, req: { headers: { 'x-forwarded-proto': proto } }, set: () => undefined, fresh: false }
    await docs(ctx as unknown as Context & Parameters<typeof docs>[0], async () => undefined)
    return (ctx as unknown as { body: Buffer }).body
  }

  it('is made once for all who ask under one address', async () => {
    const page = await shown('/docs/clients', 'one.example')
    expect(page).to.be.instanceOf(Buffer)
    expect(page.toString()).to.include('http://one.example/graphql')
    expect(await shown('/docs/clients', 'one.example')).to.equal(page)
    expect((await shown('/docs/clients', 'one.example', 'https')).toString()).to.include('https://one.example/graphql')
    expect((await shown('/docs/clients', 'two.example')).toString()).to.include('http://two.example/graphql')
    for (const path of ['/docs/cost', '/docs/nope']) expect(await shown(path, 'one.example')).to.equal(await shown(path, 'two.example'))
  })

  it('is made a section at a time, between which others are served', async () => {
    const long = Array.from({ length: 40 }, (_, n) => `## Section ${n}\n\n${'Some *words*. '.repeat(2_000)}`).join('\n\n')
    const inSections = serveDocs(
      [{ name: 'long', title: 'Long', words: '', write: () => `# Long\n\n${long}` }],
      {},
      { metrics: new Registry() },
    )
    const ctx = { path: '/docs/long', host: 'one.example', req: { headers: {} }, set: () => undefined, fresh: false }
    let served = 0
    let others = setImmediate(function next() {
      served += 1
      others = setImmediate(next)
    })
    await inSections(ctx as unknown as Context & Parameters<typeof docs>[0], async () => undefined)
    clearImmediate(others)
    expect(served).to.be.above(3)
    expect((ctx as unknown as { body: Buffer }).body.toString()).to.match(
      /<h2 id="section-0">[\s\S]*<em>words<\/em>[\s\S]*<h2 id="section-39">/,
    )
  })

  it('is made for so many new addresses a second, and then shown as it was written', async () => {
    const { take } = Allowance.prototype
    let left = 3
    Allowance.prototype.take = () => (left-- > 0 ? 0 : 100)
    try {
      for (let n = 0; n < 3; n++)
        expect((await shown('/docs/clients', `new-${n}.example`)).toString()).to.include(`http://new-${n}.example/graphql`)
      expect((await shown('/docs/clients', 'new-4.example')).toString()).to.include('http://127.0.0.1:4000/graphql')
      expect((await shown('/docs/clients', 'new-1.example')).toString(), 'kept').to.include('http://new-1.example/graphql')
    } finally {
      Allowance.prototype.take = take
    }
  })

  it('is kept for as many addresses as there is room for, whatever callers name', async () => {
    const { take } = Allowance.prototype
    Allowance.prototype.take = () => 0
    const kept = async () => Number(/what="pages"\} (\d+)/.exec(await metrics.metrics())![1])
    const { length } = await shown('/docs/clients', 'some.example')
    const before = await kept()
    expect(before).to.be.above(length)
    for (let n = 0; n < (2 * 16 * 2 ** 20) / length; n++) await shown('/docs/clients', `${n}.example`)
    expect(await kept()).to.be.within(8 * 2 ** 20, 16 * 2 ** 20)
    const full = await kept()
    await shown('/docs/clients', `${'x'.repeat(2_000)}.example`)
    expect(await kept(), 'no host has such a name').to.equal(full)
    Allowance.prototype.take = take
  }).timeout(20_000)
})
