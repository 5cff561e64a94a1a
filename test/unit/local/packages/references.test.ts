import { expect } from 'chai'
import { referencesOf } from '../../../../src/local/packages/references.js'

describe('what a compiled file needs', () => {
  it('are its imports and re-exports, whole or of types alone, on one line or more', () => {
    const text = `import { a } from './a.js';
import './effect.js';
import {
  b,
  c
} from '@scope/name/part';
export * from './d.js';
export type { E } from './e.js';
export declare const kind: 'plain';
export const text = 'from nowhere';
import { readFileSync } from 'node:fs';
import lru from 'lru-cache/dist';
`
    expect(referencesOf(text)).to.deep.equal({
      files: ['./a.js', './effect.js', './d.js', './e.js'],
      packages: ['@scope/name', 'lru-cache'],
      addresses: [],
    })
  })

  it('are what is loaded when it is needed, and the types that a declaration takes from elsewhere', () => {
    const text = `const x = await import('./late.js');
const y = createRequire(import.meta.url)('pino-pretty');
    readonly door: import("../door.js").Door;
    readonly log: import("pino").Logger;
`
    expect(referencesOf(text)).to.deep.equal({ files: ['./late.js', '../door.js'], packages: ['pino', 'pino-pretty'], addresses: [] })
  })

  it('are what it finds by its own address', () => {
    const text = `const main = fileURLToPath(new URL('../../sidecar/main.js', import.meta.url));
const folder = fileURLToPath(new URL('../../../../proto', import.meta.url));
const other = new URL('https://example.com/a');
`
    expect(referencesOf(text)).to.deep.equal({ files: [], packages: [], addresses: ['../../sidecar/main.js', '../../../../proto'] })
  })
})
