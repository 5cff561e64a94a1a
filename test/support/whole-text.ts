import type { AnswerBody } from '../../src/web/access/answer-body.js'

/** What a client reads. */
export const wholeText = (body: AnswerBody): string => (typeof body === 'string' ? body : Buffer.concat(body).toString())
