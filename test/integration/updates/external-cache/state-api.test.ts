import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Problem } from '../../../../src/kernel/problem.js'
import { Secret } from '../../../../src/kernel/secret.js'
import { StateApi } from '../../../../src/updates/external-cache/state-api.js'
import { type FrontDoor, openFrontDoor } from '../../web/front-door.js'

/** Against the real front door. */
describe('states that messages do not carry', function () {
  this.timeout(20_000)

  let door: FrontDoor
  const apis: StateApi[] = []

  before(async () => {
    door = await openFrontDoor()
  })
  after(async () => {
    await Promise.all(apis.map((api) => api.close()))
    expect(await door.close()).to.deep.equal([])
  })

  const apiWith = (key: string, url = new URL(door.url).origin): StateApi => {
    const api = new StateApi({ url, apiKey: new Secret(key) })
    apis.push(api)
    return api
  }
  const { signal } = new AbortController()
  const problemOf = (asked: Promise<unknown>) =>
    asked.then(
      () => 'none',
      ({ code, reason }: Problem) => `${code} ${reason}`,
    )

  it('are read from the edge API, of whatever identifier', async () => {
    const mutation = 'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }'
    for (const customerId of ['acme', 'a/b?c=d#e', '..', '100%', 'Zoë', '客户']) {
      expect((await door.ask(mutation, { input: { customerId } })).errors).to.equal(undefined)
      const state = await apiWith(door.serverKey).fetch({ customerId, resourceId: null }, 5, signal)
      expect(state, customerId).to.include({ customerId, resourceId: null, deniedReason: null })
      expect(state.entitlements).to.have.length.above(2)
      expect(state.accessVersion).to.be.above(5)
    }
    const unknown = await apiWith(door.serverKey, `${new URL(door.url).origin}/`).fetch(
      { customerId: 'nobody', resourceId: 'r&1' },
      5,
      signal,
    )
    expect(unknown).to.include({ deniedReason: 'CustomerNotFound', accessVersion: 5, resourceId: 'r&1' })
  })

  it('are asked for with a key of the environment, and what is no identifier is not asked for', async () => {
    const api = apiWith(door.serverKey)
    expect(await problemOf(api.checkKey(door.environmentId, signal))).to.equal('none')
    expect(await problemOf(api.checkKey(null, signal))).to.equal('none')
    expect(await problemOf(api.checkKey(randomUUID(), signal))).to.equal('PERMISSION_DENIED KEY_REFUSED')
    for (const key of ['made-up', door.clientKey])
      expect(await problemOf(apiWith(key).checkKey(null, signal)), key).to.equal('PERMISSION_DENIED KEY_REFUSED')
    expect(await problemOf(apiWith('made-up').fetch({ customerId: 'acme', resourceId: null }, 5, signal))).to.equal(
      'UNAVAILABLE KEY_REFUSED',
    )
    for (const customerId of ['', '\ud800', 'a\u0000', 'x'.repeat(300)])
      expect(await problemOf(api.fetch({ customerId, resourceId: null }, 5, signal))).to.equal('INVALID_ARGUMENT BAD_USER_INPUT')
    expect(await problemOf(apiWith(door.serverKey, 'http://127.0.0.1:1').checkKey(null, signal))).to.equal('UNAVAILABLE UNAVAILABLE')
  })
})
