import { expect } from 'chai'
import { serverAudits } from 'graphql-http'
import { type FrontDoor, openFrontDoor } from '../front-door.js'

/**
 * The audits of the GraphQL over HTTP specification. They leave the status of refused documents to the server where the answer is
 * `application/json`: ours is 200, so that clients do not retry them. Who accepts `application/graphql-response+json` gets 400.
 */
describe('GraphQL over HTTP', () => {
  let door: FrontDoor
  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const fetchWithKey = (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'x-api-key': door.serverKey } })

  for (const audit of serverAudits({ url: () => `${door.url}/graphql`, fetchFn: fetchWithKey })) {
    it(`${audit.id} ${audit.name}`, async () => {
      const result = await audit.fn()
      expect(result.status, 'reason' in result ? result.reason : '').to.equal('ok')
    })
  }
})
