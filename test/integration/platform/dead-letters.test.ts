import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { runAdmin } from '../../../src/local/admin/command-line.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { type JobDefinition, openQueue } from '../../../src/platform/queue.js'
import { createTestDatabase } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

interface Data {
  v: 1
  value: number
}

describe('dead letters', () => {
  it('are listed, shown, given to a worker again and discarded by the admin commands', async function () {
    this.timeout(30_000)
    const database = await createTestDatabase()
    const life = new Life('test', silentLogger())
    const queues = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    const definition: JobDefinition<Data> = { queue: 'letters', name: 'count', version: 1, parse: (data) => data as Data }
    let isBroken = true
    const done: number[] = []
    consume(life, queues, definition, {
      concurrency: 1,
      handler: async ({ value }) => {
        if (isBroken) throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', `cannot count ${value}`)
        done.push(value)
      },
    })
    const admin = async (...args: string[]) => {
      const output: string[] = []
      const print = (text: string) => void output.push(text)
      const code = await runAdmin({
        args: [...args, '--json'],
        databaseUrl: database.url,
        redisUrl: queues.redisUrl,
        queuePrefix: queues.prefix,
        folder: '.',
        print,
        printError: print,
      })
      return { code, answer: JSON.parse(output.join('\n')) }
    }
    try {
      const queue = openQueue(life, queues, definition)
      for (const value of [1, 2]) await queue.add({ v: 1, value })
      const letters = await eventually('both jobs to fail', async () => {
        const { answer } = await admin('dead-letters', 'list')
        return answer.length === 2 ? answer : null
      })
      const [first, second] = [1, 2].map((value) => letters.find(({ data }: { data: Data }) => data.value === value))
      expect(first).to.include({ queue: 'letters', job: 'count', reason: 'cannot count 1' })
      expect((await admin('dead-letters', 'show', first.id)).answer.data).to.deep.equal({ v: 1, value: 1 })
      isBroken = false
      expect((await admin('dead-letters', 'retry', first.id)).code).to.equal(0)
      await eventually('the job to be done', () => done.length > 0)
      expect((await admin('dead-letters', 'discard', second.id)).code).to.equal(0)
      expect((await admin('dead-letters', 'list')).answer).to.deep.equal([])
      expect(done).to.deep.equal([1])
      expect((await admin('dead-letters', 'show', second.id)).answer.error.reason).to.equal('DEAD_LETTER_NOT_FOUND')
    } finally {
      expect(await life.stop()).to.deep.equal([])
      await database.drop()
    }
  })
})
