import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context, Middleware } from 'koa'
import { LRUCache } from 'lru-cache'
import { Marked, Renderer, type Tokens } from 'marked'
import { Allowance } from '../../environment/allowance.js'
import { type Registry, showKept } from '../../platform/metrics.js'
import { ofPages, turns } from '../access/fair-turns.js'
import { escapeHtml } from './escape-html.js'
import { withExamples, writtenAddress } from './examples.js'
import { iconLink } from './home.js'
import { giveFile, type MadeFile, madeFile, once } from './made-file.js'
import { packageRoot, readAsset } from './package-files.js'
import { setPageHeaders } from './page-headers.js'

/** A page of src/web/docs: Markdown whose first line is `# Title`. Ours, so its HTML is trusted. */
interface Page {
  /** Of the file, without `.md`. */
  name: string
  title: string
  /** In Markdown; of what is not written by hand, when it is first asked for. */
  text(): string
  /** Lower case, for the search. */
  words: string
}

/** A page that is not written by hand. */
export interface GeneratedPage {
  name: string
  title: string
  /** What it can be found by. */
  words: string
  /** In Markdown. */
  write(): string
}

export type Tables = Readonly<Record<string, string>>

const firstPage = 'index'

/** The pages in the order of who begins. What is not named is reference. */
const sections: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Start', [firstPage]],
  ['Clients', ['clients', 'server-sdk', 'sidecar', 'edge', 'persistent-cache']],
  ['Recipes', ['recipes', 'subscription-year']],
  ['How it works', ['catalog', 'subscriptions', 'events', 'billing', 'webhooks', 'alerts']],
  ['Reference', ['graphql-api', 'reference', 'errors', 'unsupported-fields']],
  ['Operation', ['deploying', 'operations', 'scaling', 'reliability', 'security', 'benchmarks', 'cost']],
]
const lastSection = 'Reference'

/** The sidecar that the pages name. */
const writtenSidecar = '127.0.0.1:8443'

/** What the search looks through: the words of each page, by its path. The script of the pages loads it when somebody searches. */
export const searchPath = '/docs/search.json'

/** Of the pages with the addresses under which they were asked for: whoever asks names these. All pages with one address have about 1 MB. */
const maxKeptBytes = 16 * 2 ** 20

/**
 * The documentation at /docs: the pages and drawings of src/web/docs as they were at the start, and generated pages. Each is rendered once, and shown with the
 * addresses under which this platform is reached. `sidecarAddress`: of gRPC; absent: none is known. `tables`: in Markdown, by the name under which a page has a
 * place for it (`<!-- table: name -->`).
 */
export function serveDocs(
  generated: readonly GeneratedPage[],
  tables: Tables,
  { metrics, sidecarAddress = writtenSidecar }: { metrics: Registry; sidecarAddress?: string },
): Middleware {
  const directory = join(packageRoot, 'src/web/docs')
  const pages = readPages(directory, generated, tables)
  const drawings = readdirSync(directory).filter((file) => file.endsWith('.svg'))
  const rendered = (page: Page) =>
    once(async () => toRendered((await render(page, pages)).replaceAll(writtenSidecar, escapeHtml(sidecarAddress))))
  const words = once(() => JSON.stringify(Object.fromEntries(pages.map((page) => [`/docs/${page.name}`, page.words]))))
  const files = new Map<string, () => MadeFile>([
    ['/docs/docs.css', once(() => madeFile('css', readAsset('docs.css')))],
    ['/docs/docs.js', once(() => madeFile('js', readAsset('docs.js')))],
    [searchPath, once(() => madeFile('json', words()))],
    ...drawings.map((file) => [`/docs/${file}`, once(() => madeFile('svg', readFileSync(join(directory, file))))] as const),
  ])
  const htmlOf = new Map(pages.map((page) => [`/docs/${page.name}`, rendered(page)]))
  htmlOf.set('/docs', htmlOf.get(`/docs/${firstPage}`)!)
  const nothing = rendered(missing)
  const kept = new LRUCache<string, MadeFile>({ maxSize: maxKeptBytes, sizeCalculation: ({ body }) => body.length + keptPlaceBytes })
  const making = new Allowance({ perSecond: madePerSecond })
  showKept(metrics, 'pages', () => kept.calculatedSize)
  /** With the addresses of the request; with those of the pages when others name new ones all the time. */
  const pageOf = (path: string, { html, same }: Rendered, ctx: Context): MadeFile => {
    const origin = same ? null : originOf(ctx)
    if (!origin) return html()
    const key = `${path} ${origin.http}`
    const known = kept.get(key)
    if (known) return known
    if (making.take('', 1, performance.now()) > 0) return html()
    const made = madeFile('html', withOrigin(html().body.toString(), origin))
    kept.set(key, made)
    return made
  }
  return async (ctx, next) => {
    if (ctx.path !== '/docs' && !ctx.path.startsWith('/docs/')) return next()
    const path = ctx.path.length > 6 ? ctx.path.replace(/\/$|\.md$/, '') : '/docs'
    const [file, page] = [files.get(path), htmlOf.get(path)]
    setPageHeaders(ctx)
    ctx.set('cache-control', 'no-cache')
    ctx.status = file || page ? 200 : 404
    giveFile(ctx, file ? file() : pageOf(path, await (page ?? nothing)(), ctx))
  }
}

/** Pages that are made for addresses that were not asked for before, or are forgotten: each takes up to a millisecond of everybody's time. */
export const madePerSecond = 50
/** Of a kept page beside its bytes. */
const keptPlaceBytes = 500

interface Rendered {
  /** As it was written. */
  html(): MadeFile
  /** Whether it names no address of the platform, and so is the same for all. */
  same: boolean
}

const toRendered = (html: string): Rendered => ({ html: once(() => madeFile('html', html)), same: !html.includes(writtenPlace) })

interface Origin {
  http: string
  ws: string
}

const writtenPlace = writtenAddress.slice('http'.length)

/** What the reader has reached is what programs reach too. Null: it is no address. */
function originOf({ host, req, secure }: Context): Origin | null {
  if (host.length > maxHostLength || !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)) return null
  const s = secure || req.headers['x-forwarded-proto'] === 'https' ? 's' : ''
  return { http: `http${s}://${host}`, ws: `ws${s}://${host}` }
}

/** A name has at most 253 characters, and a port. */
const maxHostLength = 260

const withOrigin = (html: string, { http, ws }: Origin) => html.replaceAll(`http${writtenPlace}`, http).replaceAll(`ws${writtenPlace}`, ws)

const missing: Page = { name: '', title: 'No such page', text: () => '# No such page\n\nChoose one of the list.', words: '' }

function readPages(directory: string, generated: readonly GeneratedPage[], tables: Tables): Page[] {
  const names = readdirSync(directory).filter((file) => file.endsWith('.md'))
  const written = names.map((file) => toPage(file.slice(0, -'.md'.length), filled(readFileSync(join(directory, file), 'utf8'), tables)))
  const pages = [...written, ...generated.map(({ write, words, ...page }) => ({ ...page, words: words.toLowerCase(), text: write }))]
  return pages
}

/** The pages of each section, in its order; those that no section names by title. */
function inSections(pages: readonly Page[]): [title: string, pages: Page[]][] {
  const named = new Set(sections.flatMap(([, names]) => names))
  const others = pages.filter(({ name }) => !named.has(name)).sort((a, b) => a.title.localeCompare(b.title))
  return sections.map(([title, names]) => {
    const own = names.flatMap((name) => pages.find((page) => page.name === name) ?? [])
    return [title, title === lastSection ? [...own, ...others] : own]
  })
}

const filled = (text: string, tables: Tables) => text.replace(/^<!-- table: (\w+) -->$/gm, (place, name: string) => tables[name] ?? place)

function toPage(name: string, text: string): Page {
  const title = /^# (.+)/.exec(text)?.[1] ?? name
  return { name, title, text: () => text, words: text.toLowerCase().replace(/\s+/g, ' ') }
}

/** What is under a heading, up to the next one: others are served between two of them, as the longest page takes a tenth of a second. */
const sectionStart = /^(?=#{2,3} |<h3 )/m

async function toHtml(text: string): Promise<string> {
  const sections: string[] = []
  for (const section of text.split(sectionStart)) {
    sections.push(markdown.parser(withExamples(markdown.lexer(section))))
    await turns.take(ofPages)
  }
  return sections.join('')
}

/** Links between pages and to drawings are written for readers of the repository (`errors.md#codes`, `cost.svg`); headings get anchors; what is wide scrolls by itself. */
const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading) {
      const anchor = text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '-')
        .replace(/^-|-$/g, '')
      return `<h${depth} id="${escapeHtml(anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }: Tokens.Link) {
      const local = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(href)
      return `<a href="${escapeHtml(local ? `/docs/${local[1]}${local[2] ?? ''}` : href)}">${this.parser.parseInline(tokens)}</a>`
    },
    code({ text, lang = '' }: Tokens.Code) {
      const [language = ''] = lang.split(/\s/)
      // The button is shown by the script that makes it work.
      return `<div class="code"><button type="button" class="copy" hidden>Copy</button><pre tabindex="0"><code${language && ` class="language-${escapeHtml(language)}"`}>${escapeHtml(text)}\n</code></pre></div>\n`
    },
    table(token: Tokens.Table) {
      return `<div class="table" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`
    },
    image({ href, text }: Tokens.Image) {
      return `<img src="${escapeHtml(/^[\w-]+\.svg$/.test(href) ? `/docs/${href}` : href)}" alt="${escapeHtml(text)}">`
    },
  },
})

async function render(page: Page, pages: readonly Page[]): Promise<string> {
  const item = ({ name, title }: Page) => {
    const current = name === page.name ? ' aria-current="page"' : ''
    return `<li><a href="/docs/${name}"${current}>${escapeHtml(title)}</a></li>`
  }
  const lists = inSections(pages).map(
    ([title, own]) => `<section>\n<h2>${title}</h2>\n<ul>\n${own.map(item).join('\n')}\n</ul>\n</section>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} · Tollgate</title>
${iconLink}
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js" defer></script>
</head>
<body class="docs">
<a class="to-pages" href="#pages">All pages</a>
<main>
${await toHtml(page.text())}
</main>
<nav id="pages" aria-label="Pages">
<input id="search" type="search" data-words="${searchPath}" placeholder="Search the docs" aria-label="Search the docs" autocomplete="off">
${lists.join('\n')}
<p id="nothing" hidden>Nothing found.</p>
</nav>
</body>
</html>
`
}
