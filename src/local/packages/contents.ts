import { copyFileSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { referencesOf } from './references.js'

/** What goes into a package; paths from the root of the repository. */
export interface Contents {
  /** Compiled files and declarations, as `dist/src/…`. */
  compiled: string[]
  /** Folders that are copied as they are, as `proto`. */
  folders: string[]
  /** Packages that these files import. */
  packages: string[]
}

/** All that the entries reach (`src/…`, without extension), in what was compiled into `compiledRoot`. With declarations of what is imported: `library`. */
export function contentsOf(compiledRoot: string, entries: readonly string[], library: string | null): Contents {
  const compiled = new Set<string>()
  const folders = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string) => {
    if (compiled.has(file)) return
    compiled.add(file)
    const references = referencesOf(readFileSync(join(compiledRoot, file), 'utf8'))
    for (const name of references.packages) packages.add(name)
    for (const name of references.files) visit(join(dirname(file), file.endsWith('.d.ts') ? name.replace(/\.js$/, '.d.ts') : name))
    for (const address of references.addresses) {
      const path = join(dirname(file), address)
      if (path.endsWith('.js')) visit(path)
      // The root itself only shortens the paths that it shows.
      else if (path !== './') folders.add(path)
    }
  }
  for (const entry of entries) visit(`dist/${entry}.js`)
  if (library !== null) visit(`dist/${library}.d.ts`)
  return { compiled: [...compiled].sort(), folders: [...folders].sort(), packages: [...packages].sort() }
}

/** Copies it to where it is to be found in the same way. */
export function writeContents(
  { compiled, folders }: Contents,
  { compiledRoot, root, folder }: { compiledRoot: string; root: string; folder: string },
): void {
  for (const file of compiled) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(compiledRoot, file), join(folder, file))
  }
  for (const name of folders) cpSync(join(root, name), join(folder, name), { recursive: true })
}
