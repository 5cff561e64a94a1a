import { expect } from 'chai'
import { readMessage } from '../../../../src/web/live/message.js'

describe('messages of sockets', () => {
  const read = (message: object) => readMessage(JSON.stringify(message))

  it('hold of a subscription only what is read of it', () => {
    const asked = { query: 'subscription { a }', operationName: 'a', variables: { after: '' } }
    const extensions = { traceparent: '00-1-2-01', tracestate: 'a=b' }
    const more = { more: 'x'.repeat(1_000) }
    expect(
      read({ id: '1', type: 'subscribe', payload: { ...asked, extensions: { ...extensions, ...more }, ...more }, ...more }),
    ).to.deep.equal({
      message: { id: '1', type: 'subscribe', payload: { ...asked, extensions } },
    })
  })

  it('hold of what a socket begins with only the credentials, and none where the library would keep them', () => {
    const headers = { 'X-API-KEY': 'key', 'x-customer-key': 'token', other: 'header' }
    expect(read({ type: 'connection_init', payload: { headers, more: 'x'.repeat(1_000) } })).to.deep.equal({
      message: { type: 'connection_init' },
      credentials: { apiKey: 'key', customerToken: 'token' },
    })
  })

  it('are refused when they are none of the protocol', () => {
    const refusal = 'Invalid message received'
    expect(readMessage('{')).to.deep.equal({ refusal })
    for (const message of [null, [], {}, { type: 'x' }, { type: 'subscribe', id: '' }, { type: 'subscribe', id: '1' }])
      expect(readMessage(JSON.stringify(message)), JSON.stringify(message)).to.deep.equal({ refusal })
  })
})
