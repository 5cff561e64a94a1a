import { expect } from 'chai'
import { shownUrl } from '../../../../../src/notifications/webhooks/rules/endpoint.js'

describe('the URL of an endpoint as others see it', () => {
  for (const [url, shown] of [
    ['https://app.example.com/webhooks', 'https://app.example.com'],
    ['https://hooks.example.com/services/T000/B000/XXXX', 'https://hooks.example.com'],
    ['https://user:password@app.example.com/webhooks?token=secret#part', 'https://app.example.com'],
    ['https://app.example.com:8443', 'https://app.example.com:8443'],
    ['http://[2606:4700::1]/a', 'http://[2606:4700::1]'],
  ] as const)
    it(`is ${shown} of ${url}`, () => expect(shownUrl(url)).to.equal(shown))
})
