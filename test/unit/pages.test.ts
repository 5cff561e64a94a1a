import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect } from 'chai'
import { rooms } from '../support/rooms.js'
import { parseArguments, selectFiles } from '../support/selection.js'

/** Pages that tell people what to type and where to look. */
const pages = ['README.md', 'CHANGELOG.md', 'src/README.md', ...readdirSync('.github').map((name) => `.github/${name}`)]

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })

/** Compiled files are there after a build: what counts is what they are made of. */
const isThere = (path: string) => existsSync(path.replace(/^dist\/(.*)\.js$/, '$1.ts'))

/** What a page says that is not so. */
function mistakesIn(page: string, text: string): string[] {
  const typed = [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?([\w:-]+)|(start|test)\b)/g)].map(([, run, word]) => run ?? word!)
  const commands = typed.filter((name) => !scripts[name]).map((name) => `no script ${name}`)
  const selections = [...text.matchAll(/\bnpm test -- ([^\n`#,]+)/g)]
    .map(([, given]) => given!.trim())
    .filter((given) => selectFiles(tests, parseArguments(given.split(/\s+/)).filters).length === 0)
    .map((given) => `no test ${given}`)
  const paths = [...text.matchAll(/(?<![\w/.-])(?:src|test|workers|prisma|proto|dist|\.ci|\.config|\.github)\/[\w./-]*[\w/]/g)].map(
    ([path]) => path,
  )
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => normalize(join(dirname(page), link!)))
  const missing = [...paths, ...links].filter((path) => !isThere(path)).map((path) => `no file ${path}`)
  return [...commands, ...selections, ...missing]
}

describe('pages for people who run or change the platform', () => {
  for (const page of pages)
    it(`${page} names scripts, tests and files that are there`, () => {
      expect(mistakesIn(page, readFileSync(page, 'utf8'))).to.deep.equal([])
    })

  it('src/README.md has a place for every room', () => {
    const table = readFileSync('src/README.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const named = table.flatMap((line) => [...line.split('|')[1]!.matchAll(/`([\w/-]+\/)`/g)].map(([, folder]) => `src/${folder}`))
    const inside = rooms.filter((room) => room.startsWith('src/'))
    expect(inside.filter((room) => !named.some((folder) => `${room}/`.startsWith(folder)))).to.deep.equal([])
  })

  it('are read closely enough to find a mistake of each kind', () => {
    const text = 'npm run -s nothing, `npm test -- unit/nowhere --bail`, src/nowhere.ts, node dist/src/nowhere.js, [a page](nowhere.md)'
    expect(mistakesIn('.github/PAGE.md', text)).to.deep.equal([
      'no script nothing',
      'no test unit/nowhere --bail',
      'no file src/nowhere.ts',
      'no file dist/src/nowhere.js',
      'no file .github/nowhere.md',
    ])
    const right =
      '`npm run lint`, npm test, npm test -- unit, src/local/, dist/src/migrate.js, [it](../README.md), [far](https://nodejs.org)'
    expect(mistakesIn('.github/PAGE.md', right)).to.deep.equal([])
  })
})
