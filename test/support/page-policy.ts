/** What a browser does with a page and its Content-Security-Policy, as far as it can be told by reading both. */

interface Loaded {
  /** As the policy names them. */
  directive: 'script-src' | 'style-src' | 'img-src'
  url: URL
}

export interface PageUse {
  loads: Loaded[]
  /** Directives that forbid something of the page, each with what it is. */
  refused: string[]
}

/** `url`: where the page was served. */
export function readPage(html: string, policy: string, url: string): PageUse {
  const sources = new Map(policy.split('; ').map((directive) => [directive.split(' ')[0]!, directive.split(' ').slice(1)]))
  const of = (directive: string) => sources.get(directive) ?? sources.get('default-src') ?? ['*']
  const base = new URL(/<base href="([^"]*)"/.exec(html)?.[1] ?? '', url)
  const loads: Loaded[] = []
  const refused: string[] = []
  const load = (directive: Loaded['directive'], source: string) => {
    const loaded = new URL(source.replaceAll('&amp;', '&'), base)
    const isAllowed = of(directive).some((allowed) => (allowed === "'self'" ? loaded.origin === base.origin : allowed === loaded.protocol))
    if (!isAllowed) refused.push(`${directive}: ${source}`)
    else if (loaded.protocol !== 'data:') loads.push({ directive, url: loaded })
  }
  const inline = (directive: string, what: string) => {
    if (!of(directive).includes("'unsafe-inline'")) refused.push(`${directive}: inline ${what}`)
  }
  for (const [, attributes, text] of html.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)) {
    const source = /\bsrc="([^"]*)"/.exec(attributes!)?.[1]
    // What is no program is data, which no policy is about.
    if (source !== undefined) load('script-src', source)
    else if (!/\btype="application\/json"/.test(attributes!)) inline('script-src', text!.slice(0, 40))
  }
  for (const [tag] of html.matchAll(/<[a-z][^>]*>/gi)) {
    const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
    const [name] = /[a-z]+/i.exec(tag)!
    const rel = attribute('rel') ?? ''
    if (name === 'link' && rel === 'stylesheet') load('style-src', attribute('href')!)
    if (name === 'link' && rel.includes('icon')) load('img-src', attribute('href')!)
    if (name === 'img') load('img-src', attribute('src')!)
    if (name === 'style') inline('style-src', '<style>')
    if (attribute('style') !== undefined) inline('style-src', `style of ${name}`)
    if (/\son[a-z]+="/.test(tag)) inline('script-src', tag.slice(0, 60))
    if (attribute('href')?.startsWith('javascript:')) inline('script-src', tag.slice(0, 60))
  }
  return { loads, refused }
}
