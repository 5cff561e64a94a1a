import type { ServerResponse } from 'node:http'

/** What is answered. A long text is in pieces, encoded: copied or encoded as a whole it would keep all others waiting, and take its memory once more. */
export type AnswerBody = string | readonly Buffer[]

export const bytesOf = (body: AnswerBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0)

/** Ends the response with the body. `encoding`: of a text, as Node names them. */
export function endWith(response: ServerResponse, body: AnswerBody, encoding: BufferEncoding = 'utf8'): void {
  if (typeof body === 'string') return void response.end(body, encoding)
  for (const piece of body) response.write(piece)
  response.end()
}
