import { readFileSync } from 'node:fs'
import type { Context, Middleware } from 'koa'
import type { Secret } from '../../kernel/secret.js'
import { StartError } from '../../platform/health.js'
import { isFromThisMachine } from '../access/loopback.js'
import { escapeHtml } from './escape-html.js'
import { iconLink } from './home.js'
import { giveFile, madeFile, once } from './made-file.js'
import { findInstalled, readAsset } from './package-files.js'
import { setPageHeaders } from './page-headers.js'

/** An editor for queries, at /graphql in a browser. Everything comes from installed packages: nothing is fetched from elsewhere. */

const packagedFiles: Readonly<Record<string, string>> = {
  'react.js': 'react/umd/react.production.min.js',
  'react-dom.js': 'react-dom/umd/react-dom.production.min.js',
  'graphiql.js': 'graphiql/graphiql.min.js',
  'graphiql.css': 'graphiql/graphiql.min.css',
}

/** `key`: what the editor sends; empty: who opens it has to name one. */
const page = (key: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate GraphiQL</title>
${iconLink}
<link rel="stylesheet" href="/graphiql/graphiql.css">
<style>html, body, #editor { height: 100%; margin: 0 }</style>
</head>
<body>
<div id="editor" data-key="${escapeHtml(key)}">Loading…</div>
<script src="/graphiql/react.js"></script>
<script src="/graphiql/react-dom.js"></script>
<script src="/graphiql/graphiql.js"></script>
<script src="/graphiql/start.js"></script>
</body>
</html>
`

/**
 * `key` is given to browsers on this machine only, in the page itself: no page from elsewhere can read that, nor have it in a frame.
 * Fails with StartError when a package is not installed.
 */
export function serveGraphiql(key: Secret | null): Middleware {
  const files = new Map(
    Object.entries(packagedFiles).map(([name, path]) => {
      const file = installed(path)
      return [`/graphiql/${name}`, once(() => madeFile(file.endsWith('.css') ? 'css' : 'js', readFileSync(file)))]
    }),
  )
  const start = madeFile('js', readAsset('graphiql.js'))
  const [own, keyless] = [once(() => Buffer.from(page(key!.reveal()))), Buffer.from(page(''))]
  return async (ctx, next) => {
    const file = files.get(ctx.path)
    if (ctx.method !== 'GET') return next()
    if (ctx.path === '/graphql' && wantsPage(ctx)) {
      setPageHeaders(ctx, { inlineStyles: true })
      ctx.set('cache-control', 'no-store')
      ctx.type = 'html'
      ctx.body = key && isFromThisMachine(ctx.req) ? own() : keyless
    } else if (ctx.path === '/graphiql/start.js') {
      setPageHeaders(ctx)
      ctx.set('cache-control', 'no-cache')
      giveFile(ctx, start)
    } else if (file) {
      setPageHeaders(ctx)
      ctx.set('cache-control', 'public, max-age=3600')
      giveFile(ctx, file())
    } else return next()
  }
}

/** A browser names HTML first; a client that takes anything wants an answer. */
const wantsPage = (ctx: Context) => ctx.get('accept').includes('text/html') && ctx.query.query === undefined

function installed(path: string): string {
  const file = findInstalled(path)
  if (!file)
    throw new StartError(
      `GRAPHIQL is on, but ${path.split('/')[0]} is not installed: install development dependencies or set GRAPHIQL=FALSE`,
    )
  return file
}
