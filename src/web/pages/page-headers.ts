import type { Context } from 'koa'

/** What a page needs beyond what comes from here. */
export interface PageNeeds {
  /** Its programs make styles as they run, as those of GraphiQL and the queue board do. */
  inlineStyles?: boolean
}

/** No page of ours is shown in another one, runs what is not served from here, or tells other sites where its reader was. */
export function setPageHeaders(ctx: Context, needs: PageNeeds = {}): void {
  ctx.set({
    'content-security-policy': policy(needs),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  })
}

function policy({ inlineStyles = false }: PageNeeds): string {
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${inlineStyles ? " 'unsafe-inline'" : ''}`,
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return directives.join('; ')
}
