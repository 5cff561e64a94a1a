import { expect } from 'chai'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../integration/web/whole-platform.js'
import { cases, oddIds, type World } from './cases.js'
import { catalog } from './catalog.js'
import { type Door, doors } from './doors.js'

/** One list of promises, held through every way to ask the platform. */
describe('contract of checks and usage', () => {
  let platform: WholePlatform
  let environment: TestEnvironment

  before(async function () {
    this.timeout(60_000)
    platform = await openWholePlatform()
    environment = await platform.createEnvironment('contract', catalog)
  })
  after(async () => expect(await platform.close()).to.deep.equal([]))

  const mutate = async (mutation: string, variables: object = {}, declared = '') => {
    const { errors } = await environment.ask(`mutation ${declared} { ${mutation} }`, variables)
    if (errors) throw new Error(JSON.stringify(errors))
  }
  const subscribe = async (customerId: string, planId: string, resourceId?: string) => {
    await mutate('provisionCustomer(input: $input) { customer { id } }', { input: { customerId } }, '($input: ProvisionCustomerInput!)')
    const input = { customerId, planId, ...(resourceId ? { resourceId } : {}) }
    await mutate('provisionSubscriptionV2(input: $input) { id }', { input }, '($input: ProvisionSubscriptionInput!)')
  }

  for (const [number, kind] of doors.entries()) {
    describe(`through ${kind.name}`, () => {
      let door: Door
      before(async function () {
        this.timeout(30_000)
        door = await kind.open({ url: platform.url, environment })
      })
      after(() => door.close())

      for (const [index, [title, hold]] of Object.entries(cases).entries()) {
        it(title, async () => {
          const customerId = `customer-${number}-${index}`
          const world: World = {
            door,
            kind,
            customerId,
            subscribe: (planId, resourceId) => subscribe(customerId, planId, resourceId),
            mutate,
          }
          await hold(world)
        }).timeout(30_000)
      }

      it('takes identifiers as they are, whatever is in them', async () => {
        for (const id of oddIds) {
          const customerId = `${number}${id}`.slice(0, 255)
          await subscribe(customerId, 'basic')
          const { currentUsage } = await door.reportUsage({ customerId, featureId: 'calls', value: 2 })
          expect(currentUsage, id).to.equal(2)
          for (let again = 0; again < 2; again++)
            expect((await door.getMeteredEntitlement({ customerId, featureId: 'calls' })).entitlement?.currentUsage, id).to.equal(2)
        }
      }).timeout(60_000)
    })
  }
})
