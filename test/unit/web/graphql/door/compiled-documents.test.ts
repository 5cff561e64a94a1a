import { expect } from 'chai'
import fc from 'fast-check'
import {
  buildSchema,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql'
import { CompiledDocuments } from '../../../../../src/web/graphql/door/compiled-documents.js'
import { toProblem } from '../../../../../src/web/graphql/operations/errors.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'

/** The root fields answer what the test says, and tell the arguments that they were given. */
function watchedSchema() {
  const schema = createSchema()
  const heard: unknown[] = []
  const answer: { value: unknown } = { value: null }
  for (const root of [schema.getQueryType()!, schema.getMutationType()!]) {
    for (const field of Object.values(root.getFields()))
      field.resolve = (_source, args: unknown) => {
        heard.push(args)
        if (answer.value instanceof Error) throw answer.value
        return answer.value
      }
  }
  return { schema, heard, answer }
}

const inputType = (schema: GraphQLSchema, field: string, argument: string): string => {
  const root = [schema.getQueryType()!, schema.getMutationType()!].find((type) => type.getFields()[field])!
  return String(root.getFields()[field]!.args.find(({ name }) => name === argument)!.type)
}

describe('compiled documents', () => {
  const { schema, heard, answer } = watchedSchema()
  const documentOf = (field: string, argument: string, selections: string, fragments = '') => {
    const document = parse(
      `mutation ($value: ${inputType(schema, field, argument)}) { answer: ${field}(${argument}: $value) ${selections} } ${fragments}`,
    )
    expect(validate(schema, document)).to.deep.equal([])
    return document
  }
  /** What came out, as the caller gets it, and the arguments that went in. */
  const outcome = async (run: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>, args: ExecutionArgs) => {
    heard.length = 0
    const { data, errors } = await run(args)
    const told = errors?.map((error) => {
      const { code, reason, message } = toProblem(error)
      return { code, reason, message, path: error.path, locations: error.locations }
    })
    return { data: JSON.stringify(data), told, heard: structuredClone(heard) }
  }
  const same = async (args: ExecutionArgs) => {
    const documents = new CompiledDocuments({ usesBefore: 0 })
    const [expected, compiled] = [
      await outcome(execute as never, args),
      await outcome((one) => documents.execute(one) as Promise<ExecutionResult>, args),
    ]
    expect(compiled).to.deep.equal(expected)
    return expected
  }

  const text = fc.oneof({ weight: 8, arbitrary: fc.string() }, fc.constantFrom(null, undefined, 3, true, ['a'], { a: 1 }))
  const number = fc.oneof({ weight: 8, arbitrary: fc.double() }, fc.integer(), fc.constantFrom(null, undefined, '3', true, 2 ** 53, [1]))
  const time = fc.constantFrom('2026-05-01T00:00:00.000Z', '2026-05-01', 1_777_593_600_000, null, undefined, 'no time', {})
  const json = fc.oneof(fc.constantFrom(null, undefined, 'a', 1), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }))
  const behavior = fc.constantFrom('DELTA', 'SET', 'OTHER', null, undefined, 1)
  const usage = fc.record(
    {
      customerId: text,
      featureId: text,
      value: number,
      resourceId: text,
      dimensions: json,
      createdAt: time,
      updateBehavior: behavior,
      idempotencyKey: text,
      unknown: fc.constantFrom(undefined, 1),
    },
    { requiredKeys: ['customerId', 'featureId', 'value'] },
  )
  const event = fc.record(
    { customerId: text, eventName: text, idempotencyKey: text, resourceId: text, dimensions: json, timestamp: time },
    { requiredKeys: ['customerId', 'eventName', 'idempotencyKey'] },
  )
  const rarelyNone = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 9, arbitrary }, fc.constantFrom(null, undefined, 3, []))
  const inputs = {
    reportUsage: ['input', rarelyNone(usage), '{ id currentUsage }'],
    createUsageMeasurement: ['usageMeasurement', rarelyNone(usage), '{ id nextResetDate }'],
    reportUsageBulk: ['input', rarelyNone(fc.record({ usages: rarelyNone(fc.array(usage, { maxLength: 3 })) })), '{ id }'],
    reportEvent: ['events', rarelyNone(fc.record({ usageEvents: rarelyNone(fc.array(event, { maxLength: 3 })) })), ''],
  } as const

  for (const [field, [argument, arbitrary, selections]] of Object.entries(inputs)) {
    it(`give ${field} the arguments that graphql-js gives it, and refuse in the same words`, async () => {
      const document = documentOf(field, argument, selections)
      answer.value = null
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(arbitrary as fc.Arbitrary<unknown>, async (value) => {
          // As JSON brings it.
          const variableValues = JSON.parse(JSON.stringify({ value })) as Record<string, unknown>
          const { heard } = await same({ schema, document, variableValues })
          accepted += heard.length
        }),
        { numRuns: 500 },
      )
      expect(accepted).to.be.greaterThan(20)
    })
  }

  const measurement = (over: object = {}) => ({
    id: 'measurement-1',
    customerId: 'acme',
    featureId: 'calls',
    currentUsage: 2.5,
    timestamp: 1_777_593_600_000,
    ...over,
  })
  const answers: Record<string, unknown> = {
    'an object': measurement(),
    'a promise': Promise.resolve(measurement()),
    'null where the schema allows none': measurement({ customerId: null }),
    'a value that its type cannot represent': measurement({ currentUsage: 'many' }),
    'an error': new Error('broken'),
    'an error in the words of GraphQL': new GraphQLError('refused'),
    'a promise that fails': Promise.reject(new Error('broken')),
    nothing: null,
  }
  ;(answers['a promise that fails'] as Promise<unknown>).catch(() => undefined)
  for (const [name, value] of Object.entries(answers)) {
    it(`answer as graphql-js does when a field resolves to ${name}`, async () => {
      answer.value = value
      const selections = '{ id currentUsage nextResetDate timestamp credit { consumed } ...F __typename }'
      const document = documentOf(
        'reportUsage',
        'input',
        selections,
        'fragment F on UsageMeasurementWithCurrentUsage { again: currentUsage customerId }',
      )
      await same({ schema, document, variableValues: { value: { customerId: 'acme', featureId: 'calls', value: 1 } } })
    })
  }

  it('honour directives', async () => {
    const document = parse(
      'mutation ($yes: Boolean!, $input: ReportUsageInput!) { reportUsage(input: $input) { id @include(if: $yes) customerId @skip(if: $yes) } }',
    )
    answer.value = measurement()
    const input = { customerId: 'acme', featureId: 'calls', value: 1 }
    for (const yes of [true, false]) await same({ schema, document, variableValues: { yes, input } })
  })

  describe('of a schema that changes', () => {
    /** What is compiled keeps to the resolvers that it was compiled with. */
    const answersOf = async (documents: CompiledDocuments, document: DocumentNode) => {
      const changing = buildSchema('type Query { text(a: String, n: Int, e: E, in: In): String } enum E { A } input In { list: [String] }')
      const field = changing.getQueryType()!.getFields().text!
      const answered: unknown[] = []
      for (const resolver of ['first', 'second', 'third', 'fourth']) {
        field.resolve = () => resolver
        answered.push((await documents.execute({ schema: changing, document })).data!.text)
      }
      return answered
    }

    it('are compiled once they have been used some times', async () => {
      const documents = new CompiledDocuments({ usesBefore: 2 })
      expect(await answersOf(documents, parse('{ text }'))).to.deep.equal(['first', 'second', 'third', 'third'])
    })

    const neverCompiled = {
      'they are long': `{ text } ${' '.repeat(4_000)}`,
      'a text stands in them': '{ text(a: "b") }',
      'a text stands in a list or an object': '{ text(in: { list: ["b"] }) }',
      'a number stands in them': '{ text(n: 1) }',
      'an enum value stands in them': '{ text(e: A) }',
      'null stands in them': '{ text(a: null) }',
      'a variable has a default': 'query ($a: String = "b") { text(a: $a) }',
      'a directive has a value': '{ text @include(if: true) }',
      'a field is called like a prototype': '{ text __proto__: text }',
    }
    for (const [why, text] of Object.entries(neverCompiled)) {
      it(`are not compiled when ${why}`, async () => {
        const documents = new CompiledDocuments({ usesBefore: 0 })
        expect(await answersOf(documents, parse(text))).to.deep.equal(['first', 'second', 'third', 'fourth'])
      })
    }
  })

  for (const name of [
    'constructor',
    'hasOwnProperty',
    'toString',
    'context',
    'data',
    'errors',
    'promiseCounter',
    '__typename',
    'default',
    'arguments',
  ]) {
    it(`may call variables and fields "${name}"`, async () => {
      answer.value = measurement()
      const document = parse(
        `mutation ${name} ($${name}: ReportUsageInput!) { ${name}: reportUsage(input: $${name}) { ${name}: id ...${name} } } fragment ${name} on UsageMeasurementWithCurrentUsage { a: customerId }`,
      )
      const { data } = await same({ schema, document, variableValues: { [name]: { customerId: 'acme', featureId: 'calls', value: 1 } } })
      expect(JSON.parse(data)).to.deep.equal({ [name]: { [name]: 'measurement-1', a: 'acme' } })
      await same({ schema, document, variableValues: {} })
    })
  }

  it('run nothing that is written into them', async () => {
    // What graphql-jit takes a text for that begins so is code.
    const code = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(globalThis.hasRun=1)'
    const document = parse(`mutation { reportUsage(input: { customerId: "${code}", featureId: "calls", value: 1 }) { id } }`)
    answer.value = null
    const { heard } = await same({ schema, document })
    expect(heard).to.deep.equal([{ input: { customerId: code, featureId: 'calls', value: 1 } }])
    expect(globalThis).to.not.have.property('hasRun')
  })
})
