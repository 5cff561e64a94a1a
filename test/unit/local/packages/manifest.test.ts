import { expect } from 'chai'
import { manifestOf } from '../../../../src/local/packages/manifest.js'
import type { PackageDefinition } from '../../../../src/local/packages/packages.js'

const root = { version: '3.2.1', license: 'Apache-2.0', engines: { node: '>=20.19' } }
const lock = {
  packages: {
    'node_modules/one': { version: '1.0.0' },
    'node_modules/two': {
      version: '2.5.0',
      peerDependencies: { three: '^3', four: '^4' },
      peerDependenciesMeta: { four: { optional: true } },
    },
    'node_modules/three': { version: '3.3.0' },
    'node_modules/pretty': { version: '9.1.0' },
  },
}
const definition: PackageDefinition = {
  name: 'thing',
  description: 'A thing',
  library: 'src/thing/index',
  commands: { thing: 'src/thing/main' },
  processes: [],
  optional: ['pretty'],
}

describe('the package.json of a package', () => {
  it('has the version of the platform, and each dependency in that of the lock file', () => {
    expect(manifestOf(definition, { root, lock, imported: ['one', 'two', 'pretty'] })).to.deep.equal({
      name: 'thing',
      version: '3.2.1',
      description: 'A thing',
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: '^20.19.0 || >=22.12.0' },
      main: './dist/src/thing/index.js',
      types: './dist/src/thing/index.d.ts',
      exports: {
        '.': { types: './dist/src/thing/index.d.ts', default: './dist/src/thing/index.js' },
        './package.json': './package.json',
      },
      bin: { thing: 'dist/src/thing/main.js' },
      // `three` because `two` wants it beside itself.
      dependencies: { one: '1.0.0', three: '3.3.0', two: '2.5.0' },
      peerDependencies: { pretty: '^9.1.0' },
      peerDependenciesMeta: { pretty: { optional: true } },
    })
  })

  it('has nothing to import when there is only a command, and runs on every Node that the platform runs on', () => {
    const manifest = manifestOf({ ...definition, library: null, optional: [] }, { root, lock, imported: ['one'] })
    expect(manifest).to.deep.include({ engines: { node: '>=20.19' }, exports: { './package.json': './package.json' } })
    expect(manifest).to.not.have.any.keys('main', 'types', 'peerDependencies', 'peerDependenciesMeta')
  })

  it('is refused when the lock file does not have what is imported', () => {
    expect(() => manifestOf(definition, { root, lock, imported: ['five'] })).to.throw('thing imports five')
  })
})
