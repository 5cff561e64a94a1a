import type { IncomingMessage } from 'node:http'
import { Problem } from '../../kernel/problem.js'
import { decodeUtf8 } from '../../kernel/utf8.js'

/** Room for a call of 1,000 events of some kilobytes each. */
export const maxBodyBytes = 5 * 1024 * 1024

/** The body as text. Fails with INVALID_ARGUMENT as soon as it is larger than allowed: the rest is not read. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBodyBytes) throw tooLarge()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBodyBytes) chunks.push(chunk)
      else {
        request.pause()
        reject(tooLarge())
      }
    })
    request.on('end', () => {
      try {
        resolve(decodeUtf8(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), 'The body'))
      } catch (error) {
        reject(error)
      }
    })
    request.on('error', reject)
  })
}

function tooLarge(): Problem {
  return new Problem(
    'INVALID_ARGUMENT',
    'BAD_USER_INPUT',
    `The body is larger than ${maxBodyBytes} bytes: send several smaller requests.`,
    {
      details: { limit: maxBodyBytes },
    },
  )
}
