import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** One import of a source file. */
export interface SourceImport {
  /** Path of the importing file from the project's root, without extension: `src/kernel/id`. */
  from: string
  /** The same of a file of the project, else the name of the package: `pg`, `@prisma/client`, `node:fs`. */
  to: string
  isPackage: boolean
  /** Gone after compilation. An import of which every name is marked `type` is not: the file is still loaded. */
  isTypeOnly: boolean
  /** Loaded when it is needed and not with the file. */
  isDynamic: boolean
}

/** All imports of the TypeScript files in these folders. */
export function readImports(folders: readonly string[]): SourceImport[] {
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  return files.filter((file) => file.endsWith('.ts')).flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))
}

/** The imports and re-exports of one file, dynamic ones too. */
export function importsOf(file: string, text: string): SourceImport[] {
  const from = file.replace(/\.ts$/, '')
  const statements = text.matchAll(/^(?:import|export)\b(\s+type\b(?!\s*,|\s+from))?(?:[^'";]*?\bfrom)?\s*'([^']+)'/gm)
  const dynamic = text.matchAll(/\bimport\(()\s*'([^']+)'\s*\)/g)
  const all = [
    ...[...statements].map((match) => ({ match, isDynamic: false })),
    ...[...dynamic].map((match) => ({ match, isDynamic: true })),
  ]
  return all.map(({ match: [, type, target], isDynamic }) => {
    const isPackage = !target!.startsWith('.')
    const to = isPackage ? packageOf(target!) : normalize(join(dirname(file), target!)).replace(/\.js$/, '')
    return { from, to, isPackage, isTypeOnly: Boolean(type), isDynamic }
  })
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Files that import each other in a ring, as `a > b > a`; each ring once. */
export function findCycles(imports: readonly SourceImport[]): string[] {
  const targets = new Map<string, string[]>()
  for (const { from, to, isPackage } of imports) if (!isPackage) targets.set(from, [...(targets.get(from) ?? []), to])
  const cycles: string[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    const start = path.indexOf(file)
    if (start !== -1) {
      cycles.push([...path.slice(start), file].join(' > '))
      return
    }
    if (done.has(file)) return
    path.push(file)
    for (const target of targets.get(file) ?? []) visit(target)
    path.pop()
    done.add(file)
  }
  for (const file of targets.keys()) visit(file)
  return cycles
}

/** Everything that is loaded with `file`, and not only when it is needed: files of the project and packages. */
export function loadedBy(file: string, imports: readonly SourceImport[]): Set<string> {
  const loaded = new Set<string>()
  const visit = (current: string) => {
    for (const { from, to, isPackage, isTypeOnly, isDynamic } of imports) {
      if (from !== current || isTypeOnly || isDynamic || loaded.has(to)) continue
      loaded.add(to)
      if (!isPackage) visit(to)
    }
  }
  visit(file)
  return loaded
}
