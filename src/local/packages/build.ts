import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../processes/run-command.js'
import { contentsOf, writeContents } from './contents.js'
import { type Lock, manifestOf, type RootManifest } from './manifest.js'
import { type PackageDefinition, packages } from './packages.js'

export interface BuiltPackage {
  name: string
  folder: string
  /** The same as `npm install` takes it. */
  tarball: string
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
const entriesOf = ({ library, commands, processes }: PackageDefinition) => [
  ...(library === null ? [] : [library]),
  ...Object.values(commands),
  ...processes,
]

/** Writes all packages into a folder, which is emptied first: each as a folder and as a tarball. `root`: the repository, with its dependencies installed. */
export async function buildPackages(root: string, out: string): Promise<BuiltPackage[]> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const compiled = join(out, '.compiled')
  await compile(root, compiled, packages.flatMap(entriesOf))
  const built: BuiltPackage[] = []
  for (const definition of packages) {
    const folder = writePackage(root, join(out, definition.name), compiled, definition)
    const [packed] = JSON.parse(await runCommand('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out, folder])) as [
      { filename: string },
    ]
    built.push({ name: definition.name, folder, tarball: join(out, packed.filename) })
  }
  rmSync(compiled, { recursive: true })
  return built
}

/** With declarations and without source maps: what they lead to is not in a package. */
async function compile(root: string, out: string, entries: readonly string[]): Promise<void> {
  mkdirSync(out)
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      rootDir: root,
      outDir: join(out, 'dist'),
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
      declaration: true,
      sourceMap: false,
      incremental: false,
      tsBuildInfoFile: null,
    },
    files: entries.map((entry) => join(root, `${entry}.ts`)),
    include: [],
  }
  const file = join(out, 'tsconfig.json')
  writeFileSync(file, JSON.stringify(project))
  await runCommand(process.execPath, [join(root, 'node_modules', 'typescript-compiler', 'bin', 'tsc'), '--project', file])
}

function writePackage(root: string, folder: string, compiled: string, definition: PackageDefinition): string {
  const contents = contentsOf(compiled, entriesOf(definition), definition.library)
  writeContents(contents, { compiledRoot: compiled, root, folder })
  for (const file of Object.values(definition.commands)) chmodSync(join(folder, 'dist', `${file}.js`), 0o755)
  const manifest = manifestOf(definition, {
    root: readJson<RootManifest>(join(root, 'package.json')),
    lock: readJson<Lock>(join(root, 'package-lock.json')),
    imported: contents.packages,
  })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(root, 'src', 'local', 'packages', 'readme', `${definition.name}.md`), join(folder, 'README.md'))
  return folder
}
