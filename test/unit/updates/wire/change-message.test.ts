import { expect } from 'chai'
import { fromText } from '../../../../src/kernel/decimal.js'
import { type ChangeMessage, changeChannel } from '../../../../src/updates/wire/change-message.js'

describe('change message', () => {
  it('has its version’s form', () => {
    const usage = { currentUsage: fromText('5'), periodStart: 1, periodEnd: 2, updatedAt: 3 }
    const message: ChangeMessage = {
      v: 1,
      id: 'id',
      environmentId: 'environment',
      customerId: 'acme',
      resourceId: 'r',
      kind: 'usage',
      version: 3,
      timestamp: 4,
      usage: { featureId: 'calls', usage, accessVersion: 2 },
    }
    // Whoever changes the form raises the version: both are written here.
    expect(JSON.stringify(message)).to.equal(
      '{"v":1,"id":"id","environmentId":"environment","customerId":"acme","resourceId":"r","kind":"usage","version":3,"timestamp":4,' +
        '"usage":{"featureId":"calls","usage":{"currentUsage":"5","periodStart":1,"periodEnd":2,"updatedAt":3},"accessVersion":2}}',
    )
  })

  it('goes to the channel of its environment', () => {
    expect(changeChannel('tollgate', 'environment')).to.equal('tollgate:changes:environment')
  })
})
