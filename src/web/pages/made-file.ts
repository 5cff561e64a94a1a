import { createHash } from 'node:crypto'
import type { Context } from 'koa'

/** A page or file of ours, made once: all who ask for it are given the same bytes. */
export interface MadeFile {
  /** As Koa names types: `html`. */
  type: string
  body: Buffer
  etag: string
}

export function madeFile(type: string, content: string | Buffer): MadeFile {
  const body = Buffer.from(content)
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}

/** Answers the file; 304 to who has it. */
export function giveFile(ctx: Context, { type, body, etag }: MadeFile): void {
  ctx.type = type
  ctx.etag = etag
  ctx.body = body
  if (ctx.fresh) ctx.status = 304
}

export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
