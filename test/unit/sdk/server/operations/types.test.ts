import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, validate } from 'graphql'
import { documents } from '../../../../../src/sdk/server/operations/documents.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { sdkTypes, typesFolder, unformatted } from '../../../../support/sdk-types.js'

describe('operations of the server SDK', () => {
  const schema = createSchema()

  for (const [name, text] of Object.entries(documents))
    it(`asks for nothing that the schema has not: ${name}`, () => expect(validate(schema, parse(text))).to.deep.equal([]))

  it('have the types of the schema (else: npm run sdk-types)', () => {
    const made = sdkTypes(schema)
    expect(readdirSync(typesFolder).sort()).to.deep.equal([...made.keys()].sort())
    for (const [file, text] of made) expect(unformatted(readFileSync(join(typesFolder, file), 'utf8')), file).to.equal(unformatted(text))
  })
})
