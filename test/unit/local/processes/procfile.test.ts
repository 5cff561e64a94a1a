import { expect } from 'chai'
import { parseProcfile, programOf } from '../../../../src/local/processes/procfile.js'

describe('local/procfile', () => {
  it('reads names and commands in order, skipping blanks and comments', () => {
    expect(parseProcfile('# processes\nrelease: node migrate.js\n\n  web:node web.js --port 1\n')).to.deep.equal([
      { name: 'release', command: 'node migrate.js' },
      { name: 'web', command: 'node web.js --port 1' },
    ])
  })

  for (const [title, text, message] of [
    ['a line without a command', 'web: node web.js\nworker:', 'line 2 is not'],
    ['a line without a name', 'node web.js', 'line 1 is not'],
    ['a name that comes twice', 'web: a\nweb: b', 'line 2: web is there twice'],
  ] as const)
    it(`refuses ${title}`, () => {
      expect(() => parseProcfile(text)).to.throw(message)
    })

  it('runs plain words without a shell, with this very Node', () => {
    expect(programOf('node dist/src/web/main.js')).to.deep.equal({ command: process.execPath, args: ['dist/src/web/main.js'] })
    expect(programOf('bin/worker --size=3')).to.deep.equal({ command: 'bin/worker', args: ['--size=3'] })
  })

  for (const command of ['node a.js && node b.js', 'FOO=1 node a.js', 'node $SCRIPT', "node -e 'x'"])
    it(`leaves to a shell what only a shell understands: ${command}`, () => {
      expect(programOf(command)).to.deep.equal({ command: '/bin/sh', args: ['-c', command] })
    })
})
