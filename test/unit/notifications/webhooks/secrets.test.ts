import { expect } from 'chai'
import { Secret } from '../../../../src/kernel/secret.js'
import { newEndpointSecret, Sealing, secretsKeyVariable } from '../../../../src/notifications/webhooks/secrets.js'
import { ConfigError, readConfig } from '../../../../src/platform/config.js'

const key = Buffer.alloc(32, 1).toString('base64')
const sealing = new Sealing(new Secret(key))

describe('secrets of endpoints', () => {
  it('are 32 random bytes, as Standard Webhooks writes them', () => {
    expect(newEndpointSecret()).to.match(/^whsec_[\w+/]{43}=$/)
    expect(newEndpointSecret()).to.not.equal(newEndpointSecret())
  })

  it('are sealed, each time otherwise, and opened again', () => {
    const secret = newEndpointSecret()
    const sealed = sealing.seal(secret, 'one')
    expect(sealed.includes(Buffer.from(secret))).to.equal(false)
    expect(sealed.equals(sealing.seal(secret, 'one'))).to.equal(false)
    expect(sealing.open(sealed, 'one')).to.equal(secret)
  })

  it('do not open for another endpoint, with another key, or changed', () => {
    const sealed = sealing.seal('secret', 'one')
    const other = new Sealing(new Secret(Buffer.alloc(32, 2).toString('base64')))
    expect(() => sealing.open(sealed, 'other')).to.throw('cannot be decrypted')
    expect(() => other.open(sealed, 'one')).to.throw('SECRETS_KEY')
    for (let index = 1; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index]! ^= 1
      expect(() => sealing.open(changed, 'one'), String(index)).to.throw('cannot be decrypted')
    }
    expect(() => sealing.open(Buffer.from([9, ...sealed.subarray(1)]), 'one')).to.throw('format')
  })

  it('need a key of 32 bytes, which no message repeats', () => {
    const read = (value: string | undefined) => readConfig({ SECRETS_KEY: secretsKeyVariable }, { SECRETS_KEY: value }).SECRETS_KEY.reveal()
    expect(read(key)).to.equal(key)
    expect(() => read(undefined)).to.throw(ConfigError, 'SECRETS_KEY is not set')
    for (const value of [
      'short',
      Buffer.alloc(31).toString('base64'),
      Buffer.alloc(33).toString('base64'),
      'x'.repeat(44),
      `${key}${key}`,
    ]) {
      expect(() => read(value), value).to.throw(ConfigError, 'openssl rand -base64 32')
      expect(() => read(value)).to.not.throw(value)
    }
  })
})
