import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { verifyToken } from '../../../../src/environment/model/customer-token.js'
import { makeToken } from '../../../support/customer-token.js'

const secret = 'a-signing-secret'
const secrets = [Buffer.from(secret)]
const signatureOf = (customerId: string) => createHmac('sha256', secret).update(customerId).digest('hex')

describe('customer token', () => {
  for (const customerId of ['customer-1', 'a:b', ':', 'tenant:7:user', 'with space', '"quoted"']) {
    it(`answers the customer that was signed: ${customerId}`, () => {
      expect(verifyToken(`HMAC-SHA256 ${customerId}:${signatureOf(customerId)}`, secrets)).to.equal(customerId)
    })
  }

  it('is made as it is verified', () => {
    expect(verifyToken(makeToken('customer-1', secret), secrets)).to.equal('customer-1')
  })

  const signature = signatureOf('customer-1')
  const refused: Record<string, string> = {
    'the signature of another customer': `HMAC-SHA256 customer-2:${signature}`,
    'a customer that was cut': `HMAC-SHA256 customer-:${signature}`,
    'no signature': 'HMAC-SHA256 customer-1:',
    'half a signature': `HMAC-SHA256 customer-1:${signature.slice(0, 32)}`,
    'a signature with something after it': `HMAC-SHA256 customer-1:${signature}00`,
    'another scheme': `HMAC-SHA1 customer-1:${signature}`,
    'no scheme': `customer-1:${signature}`,
    'no customer': `HMAC-SHA256 :${signatureOf('')}`,
    nothing: '',
    'a signature with another secret': `HMAC-SHA256 customer-1:${createHmac('sha256', 'guessed').update('customer-1').digest('hex')}`,
  }
  for (const [what, header] of Object.entries(refused)) {
    it(`is refused with ${what}`, () => expect(verifyToken(header, secrets)).to.equal(null))
  }

  it('is as long as that of the longest identifier, and no longer', () => {
    const longest = '\u{1f600}'.repeat(255)
    const sentAsUtf8 = (customerId: string) => Buffer.from(makeToken(customerId, secret), 'utf8').toString('latin1')
    expect(verifyToken(sentAsUtf8(longest), secrets)).to.equal(longest)
    expect(verifyToken(sentAsUtf8(`${longest}x`), secrets)).to.equal(null)
  })

  it('accepts both secrets while one replaces the other, and none when there is none', () => {
    const token = makeToken('customer-1', 'the-old-one')
    expect(verifyToken(token, [...secrets, Buffer.from('the-old-one')])).to.equal('customer-1')
    expect(verifyToken(token, secrets)).to.equal(null)
    expect(verifyToken(token, [])).to.equal(null)
  })

  it('reads letters beyond ASCII as the host application signed them, whichever way its client sent them', () => {
    const token = makeToken('Jürgen', secret)
    const sentAsUtf8 = Buffer.from(token, 'utf8').toString('latin1')
    const sentAsLatin1 = Buffer.from(token, 'latin1').toString('latin1')
    expect(verifyToken(sentAsUtf8, secrets)).to.equal('Jürgen')
    expect(verifyToken(sentAsLatin1, secrets)).to.equal('Jürgen')
    expect(verifyToken(makeToken('顧客', secret), secrets)).to.equal('顧客')
  })

  it('reads what was sent as bytes in either way, and what cannot be bytes in one', () => {
    // Every character of it stands for a byte, the last one too.
    const token = makeToken('ÿ', secret)
    expect(verifyToken(Buffer.from(token, 'utf8').toString('latin1'), secrets)).to.equal('ÿ')
    // Cut to bytes it would read as another customer.
    const name = 'a\u0162'
    expect(verifyToken(`HMAC-SHA256 ${name}:${signatureOf('ab')}`, secrets)).to.equal(null)
  })
})
