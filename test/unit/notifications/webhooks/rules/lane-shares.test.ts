import { expect } from 'chai'
import { withTheirShare } from '../../../../../src/notifications/webhooks/rules/lane-shares.js'

describe('the share of lanes that an environment has', () => {
  const cases: [what: string, running: string, most: number, withShare: string][] = [
    ['is no limit while nothing runs', '', 8, ''],
    ['is all but one when it is alone', 'aaaaaa', 8, ''],
    ['is used up when it is alone and has all but one', 'aaaaaaa', 8, 'a'],
    ['is half of what the other leaves', 'aaaab', 8, 'a'],
    ['is of two loud ones a third each', 'aaabbb', 9, 'ab'],
    ['leaves the second room beside the first', 'aab', 9, ''],
    ['is one lane at least, however many others there are', 'abcdefg', 8, 'abcdefg'],
    ['is the one lane that there is', 'a', 1, 'a'],
  ]
  for (const [what, running, most, withShare] of cases)
    it(what, () => expect(withTheirShare([...running], most)).to.deep.equal([...withShare]))

  it('leaves ten of a hundred when five environments have taken what they may, one after the other, for twenty endpoints each', () => {
    const running: string[] = []
    for (const environmentId of 'abcde')
      for (let endpoint = 0; endpoint < 20 && !withTheirShare(running, 100).includes(environmentId); endpoint++) running.push(environmentId)
    expect(running).to.have.length(90)
  })
})
