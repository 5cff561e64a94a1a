// `node dist/src/local/packages/process-folder.js FOLDER ENTRY…`: writes what a process needs of the build into a folder, for an image of its own.
// `npm install --omit=dev` there brings what it imports, in the versions of package-lock.json, and nothing that other processes need.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contentsOf, writeContents } from './contents.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const [folder = '', ...entries] = process.argv.slice(2)
const contents = contentsOf(root, entries, null)
writeContents(contents, { compiledRoot: root, root, folder })

const { name, version, license, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  version: string
  license: string
  dependencies: Record<string, string>
}
const needed = Object.fromEntries(Object.entries(dependencies).filter(([dependency]) => contents.packages.includes(dependency)))
const manifest = { name, version, license, private: true, type: 'module', dependencies: needed }
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
for (const file of ['package-lock.json', 'LICENSE']) copyFileSync(join(root, file), join(folder, file))
