/**
 * Secrets of endpoints, as they stand in the database: encrypted, so that a copy of it signs nothing.
 *
 * sealed   0x01, nonce (12 bytes), tag (16), ciphertext: AES-256-GCM, bound to what it is the secret of
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { makeValidator } from 'envalid'
import { Secret } from '../../kernel/secret.js'

const [format, nonceBytes, tagBytes, keyBytes] = [1, 12, 16, 32]

/** The variable SECRETS_KEY. The message never repeats the value. */
export const secretsKeyVariable = makeValidator<Secret>((input) => {
  if (Buffer.from(input, 'base64').length !== keyBytes || !/^[\w+/-]{43}=?$/.test(input))
    throw new Error('must be 32 bytes as base64: openssl rand -base64 32 makes one')
  return new Secret(input)
})({
  desc: 'Encrypts the secrets of webhook endpoints in the database: 32 bytes as base64, the same in all processes that have it',
  example: 'what `openssl rand -base64 32` prints',
})

export class Sealing {
  readonly #key: Buffer

  constructor(key: Secret) {
    this.#key = Buffer.from(key.reveal(), 'base64')
  }

  /** `of`: names what the secret belongs to, and only opens with the same. */
  seal(secret: string, of: string): Buffer {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(of))
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([Buffer.from([format]), nonce, cipher.getAuthTag(), text])
  }

  /** @throws Error when it was sealed with another key, for something else, or changed since */
  open(sealed: Uint8Array, of: string): string {
    const bytes = Buffer.from(sealed)
    if (bytes[0] !== format) throw new Error(`a secret of the unknown format ${bytes[0]}`)
    const nonce = bytes.subarray(1, 1 + nonceBytes)
    const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(of)).setAuthTag(tag)
    try {
      return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()]).toString('utf8')
    } catch (cause) {
      throw new Error('a secret cannot be decrypted: SECRETS_KEY is not the one that it was encrypted with', { cause })
    }
  }
}

/** As Standard Webhooks writes them: 32 bytes. */
export const newEndpointSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** What the secret of an endpoint is bound to. */
export const sealedFor = (environmentId: string, endpointId: string): string => `webhook endpoint ${environmentId} ${endpointId}`
