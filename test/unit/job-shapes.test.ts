import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { jobSamples } from '../support/job-samples.js'

const folder = 'test/cases/jobs'
const fixtures = readdirSync(folder)
const read = (file: string): unknown => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))

/**
 * While a release is rolled out, workers of one take the jobs of the other. A fixture is a job as releases of its version write it: it never changes and never
 * goes while such a release may run beside this one.
 */
describe('the shapes of jobs', () => {
  for (const { name, definition, job } of jobSamples) {
    const file = `${name}.${definition.version}.json`

    it(`of ${name} are those of their version: another shape is another version, with a fixture of its own`, () => {
      expect(fixtures, `${folder} has no ${file}`).to.include(file)
      expect(JSON.parse(JSON.stringify(job)), `what is written today is not ${file}`).to.deep.equal(read(file))
    })

    it(`of ${name} are read as they were written`, () => {
      expect(definition.parse(read(file))).to.deep.equal(read(file))
    })

    it(`of ${name} are read with what a later release says beside them`, () => {
      const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
      const { trace: _, ...job } = definition.parse({ ...(read(file) as object), trace }) as { v: number; trace?: unknown }
      expect(job).to.deep.equal(read(file))
    })
  }

  it('are all here', () => {
    const defined = ['src', 'workers']
      .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => `${top}/${file}`))
      .filter((file) => /jobs\.ts$/.test(file))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^export const (\w+)\b.*JobDefinition</gm)].map(([, name]) => name!))
    // One is of any shard, and one is of an environment’s queue under whatever name.
    expect(defined.sort()).to.deep.equal(
      [
        'aggregateEvents',
        'applyDueTransitions',
        'changesIn',
        'deliverChanges',
        'environmentQueue',
        'fillUsage',
        'ingestDirectUsage',
        'ingestionShard',
        'runImport',
      ].sort(),
    )
  })

  it('of every release are of a queue that there is, and tell their version', () => {
    for (const file of fixtures) {
      const [, name, version] = /^(.+)\.(\d+)\.json$/.exec(file)!
      expect(
        jobSamples.map((sample) => sample.name),
        file,
      ).to.include(name)
      expect(read(file), file).to.have.property('v', Number(version))
    }
  })
})
