import type { Middleware } from 'koa'
import { giveFile, madeFile } from './made-file.js'
import { readAsset } from './package-files.js'
import { setPageHeaders } from './page-headers.js'

/** What there may be besides what there always is. */
export interface HomeOptions {
  hasEditor: boolean
  hasQueueBoard: boolean
}

/** In the head of every page. A browser that shows something else than a page asks for /favicon.ico by itself. */
export const iconLink = '<link rel="icon" href="/favicon.svg" type="image/svg+xml">'

/** `/`: what is here, for whoever opens the address in a browser. And the icon of all pages. */
export function serveHome(options: HomeOptions): Middleware {
  const [page, icon] = [madeFile('html', homePage(options)), madeFile('svg', readAsset('favicon.svg'))]
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    if (ctx.path === '/') {
      setPageHeaders(ctx)
      ctx.set('cache-control', 'no-cache')
      giveFile(ctx, page)
    } else if (ctx.path === '/favicon.svg' || ctx.path === '/favicon.ico') {
      ctx.set('cache-control', 'public, max-age=86400')
      giveFile(ctx, icon)
    } else return next()
  }
}

function homePage({ hasEditor, hasQueueBoard }: HomeOptions): string {
  const links: [path: string, text: string][] = [
    ['/docs', 'Documentation: first steps, recipes, reference'],
    ...(hasEditor ? ([['/graphql', 'GraphiQL: try queries in the browser']] as [string, string][]) : []),
    ...(hasQueueBoard ? ([['/queues', 'Queues, with the operator key']] as [string, string][]) : []),
    ['/readyz', 'Health: whether this process does its work'],
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
${iconLink}
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<main>
<h1>Tollgate</h1>
<p>Entitlements, metering and subscriptions. Programs send <code>POST /graphql</code>; here is what people can look at:</p>
<ul>
${links.map(([path, text]) => `<li><a href="${path}">${text}</a></li>`).join('\n')}
</ul>
</main>
</body>
</html>
`
}
