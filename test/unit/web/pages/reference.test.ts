import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { isEnumType, isInputObjectType, isObjectType } from 'graphql'
import { alwaysNullNote } from '../../../../src/web/graphql/schema/field-meanings.js'
import { createSchema } from '../../../../src/web/graphql/schema.js'
import { packageRoot } from '../../../../src/web/pages/package-files.js'
import { referencePage } from '../../../../src/web/pages/reference.js'

const schema = createSchema()
const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!]

describe('reference of the docs', () => {
  const { write, words } = referencePage(schema)
  const text = write()

  it('describes every operation with its arguments', () => {
    for (const root of roots) {
      for (const { name, description, args } of Object.values(root.getFields())) {
        expect(text).to.include(`### ${name}\n\n${description}`)
        expect(words).to.include(name)
        for (const argument of args) expect(text).to.include(`| \`${argument.name}\` |`)
      }
    }
  })

  it('describes every input, type and enum, and has where each link leads to', () => {
    for (const type of types) {
      if (!isInputObjectType(type) && !isObjectType(type) && !isEnumType(type)) continue
      if (roots.includes(type as never)) continue
      expect(text).to.include(`<h3 id="type-${type.name}">${type.name}</h3>\n\n${type.description}`)
      if (isEnumType(type)) for (const { name } of type.getValues()) expect(text).to.include(`\`${name}\``)
    }
    const places = new Set(Array.from(text.matchAll(/id="([\w-]+)"/g), ([, id]) => id))
    const links = Array.from(text.matchAll(/\]\(#([\w-]+)\)/g), ([, id]) => id)
    expect(links.filter((id) => !places.has(id))).to.deep.equal([])
  })

  it('has a description of every type, enum and input', () => {
    const described = types.filter((type) => isInputObjectType(type) || isEnumType(type) || (isObjectType(type) && !roots.includes(type)))
    expect(described.filter(({ description }) => !description).map(({ name }) => name)).to.deep.equal([])
  })
})

describe('fields without a value', () => {
  const page = readFileSync(join(packageRoot, 'src/web/docs/unsupported-fields.md'), 'utf8')
  const listed = Array.from(page.matchAll(/^- `(\w+\.\w+)`/gm), ([, field]) => field)
  const declared = types.filter(isObjectType).flatMap((type) =>
    Object.values(type.getFields())
      .filter(({ description }) => description === alwaysNullNote)
      .map(({ name }) => `${type.name}.${name}`),
  )

  it('are the ones that the page lists', () => {
    expect([...listed].sort()).to.deep.equal([...declared].sort())
  })
})
