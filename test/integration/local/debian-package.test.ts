import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { Children } from '../../../src/local/processes/children.js'
import { bringProgram, type Program } from '../../../src/local/programs/debian-package.js'
import { scratchFolder } from './scratch.js'

const wanted = { title: 'Greeter 2 or newer', name: 'greet', packageName: 'greeter', howToInstall: 'install greeter.' }

/** Puts every package of the folder ARCHIVE into that of `Dir::Cache::archives`, as apt does with those that the machine lacks. */
const aptGet = `
for argument; do
  case $argument in
    Dir::Cache::archives=*) archives=\${argument#*=} ;;
    Dir::State::lists=*) lists=\${argument#*=} ;;
    update) echo new > "$lists/packages"; exit ;;
  esac
done
if [ -e "$ARCHIVE/outdated" ] && [ -z "$lists" ]; then echo 'Get:1 …'; echo 'E: lists are outdated'; exit 100; fi
if [ -e "$ARCHIVE/unreachable" ]; then echo 'E: no route to the archive'; exit 100; fi
for file in "$ARCHIVE"/*.deb; do [ ! -e "$file" ] || cp "$file" "$archives"; done
`
/** A package is an archive of tar here. */
const dpkgDeb = 'mkdir -p "$3" && tar -xf "$2" -C "$3"'

describe('local/programs: a program of the distribution', () => {
  let scratch: ReturnType<typeof scratchFolder>
  let children: Children
  let usualPath: string | undefined

  const at = (...parts: string[]) => join(scratch.folder, ...parts)
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
  }
  const tool = (name: string, script: string) =>
    write(at('bin', name), `#!/bin/sh\nPATH=/usr/bin:/bin ARCHIVE='${at('archive')}'\n${script}`, 0o755)
  /** Adds a package with what `fill` puts into its folder. */
  const publish = (name: string, fill: (folder: string) => void) => {
    fill(at('contents', name))
    mkdirSync(at('archive'), { recursive: true })
    execFileSync('/bin/tar', ['-cf', at('archive', `${name}.deb`), '-C', at('contents', name), '.'])
  }
  const publishGreeter = () =>
    publish('greeter', (folder) => write(join(folder, 'usr/bin/greet'), '#!/bin/sh\necho "hello from $LD_LIBRARY_PATH"\n', 0o755))
  const bring = (notices: string[] = []) =>
    bringProgram(wanted, {
      cacheFolder: at('cache'),
      children,
      notice: (line) => notices.push(line),
      signal: new AbortController().signal,
    })
  const run = ({ file, env }: Program, ...args: string[]) => execFileSync(file, args, { env, encoding: 'utf8' }).trim()

  beforeEach(() => {
    scratch = scratchFolder()
    children = new Children()
    usualPath = process.env.PATH
    process.env.PATH = at('bin')
    tool('apt-get', aptGet)
    tool('dpkg-deb', dpkgDeb)
  })
  afterEach(async () => {
    process.env.PATH = usualPath
    await children.stopAll()
    scratch.remove()
  })

  it('is unpacked with the libraries that the machine lacks, once, and says so', async () => {
    publishGreeter()
    publish('libgreeting', (folder) => write(join(folder, 'usr/lib/any-machine/libgreeting.so.1'), ''))
    const notices: string[] = []
    expect(run(await bring(notices))).to.match(/^hello from .*greeter\/usr\/lib\/any-machine/)
    expect(notices).to.deep.equal(['No Greeter 2 or newer on this machine: fetching the distribution’s package greeter …'])
    expect(readdirSync(at('cache'))).to.deep.equal(['greeter'])
    rmSync(at('bin'), { recursive: true })
    expect(run(await bring())).to.match(/^hello/)
  })

  it('works when its file is a link into a package that the machine has already', async () => {
    // As redis-server is a link to redis-check-rdb of redis-tools. A file that every machine has plays that one: the package of it is not fetched.
    publish('greeter', (folder) => {
      mkdirSync(join(folder, 'usr/bin'), { recursive: true })
      symlinkSync('env', join(folder, 'usr/bin/greet'))
    })
    const program = await bring()
    expect(program.file).to.equal(at('cache/greeter/usr/bin/greet'))
    expect(run(program, '/bin/echo', 'hello')).to.equal('hello')
  })

  it('is fetched again when the machine has lost what it linked to', async () => {
    mkdirSync(at('cache/greeter/usr/bin'), { recursive: true })
    symlinkSync(at('gone'), at('cache/greeter/usr/bin/greet'))
    publishGreeter()
    expect(run(await bring())).to.match(/^hello/)
  })

  it('is found with new lists when those of the machine are outdated', async () => {
    publishGreeter()
    write(at('archive/outdated'), '')
    expect(run(await bring())).to.match(/^hello/)
  })

  for (const [when, prepare] of [
    ['there is no apt', () => rmSync(at('bin/apt-get'))],
    ['apt brings nothing', () => {}],
    ['the package has another program', () => publish('greeter', (folder) => write(join(folder, 'usr/bin/other'), ''))],
    [
      'the package links to what nobody has',
      () =>
        publish('greeter', (folder) => {
          mkdirSync(join(folder, 'usr/bin'), { recursive: true })
          symlinkSync('nobody-has-this', join(folder, 'usr/bin/greet'))
        }),
    ],
  ] as const)
    it(`says what to install when ${when}, and leaves nothing behind`, async () => {
      prepare()
      const error = await bring().catch((thrown) => thrown)
      expect(error).to.include({ reason: 'PROGRAM_MISSING', message: 'No Greeter 2 or newer is on this machine: install greeter.' })
      expect(existsSync(at('cache')) ? readdirSync(at('cache')) : []).to.deep.equal([])
    })

  it('says what apt said when the package cannot be fetched, without its progress', async () => {
    write(at('archive/outdated'), '')
    write(at('archive/unreachable'), '')
    const error = await bring().catch((thrown) => thrown)
    expect(error.message).to.equal(
      'No Greeter 2 or newer is on this machine, and the distribution’s package could not be fetched. Check the network, install greeter.\n' +
        'E: no route to the archive',
    )
    expect(readdirSync(at('cache'))).to.deep.equal([])
  })
})
