/** What a compiled file needs to be there. */
export interface References {
  /** Files beside it, as they are named: `./checks.js`. */
  files: string[]
  /** Packages by name, without Node's own. */
  packages: string[]
  /** Files and folders that it finds by its own address: programs that it starts, definitions that it reads. */
  addresses: string[]
}

const imported = [
  // Imports and re-exports stand at the beginning of a line in what the compiler writes.
  /^(?:import|export)\b(?:[^'";=]*?\bfrom)?\s*'([^']+)'/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  /\bcreateRequire\(import\.meta\.url\)\('([^']+)'\)/g,
]

/** Of compiled JavaScript or a declaration, whether it is loaded with the file or when it is needed. */
export function referencesOf(text: string): References {
  const names = imported.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!))
  const addresses = [...text.matchAll(/\bnew URL\('([^']+)', import\.meta\.url\)/g)].map(([, path]) => path!)
  const outside = names.filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
  return { files: names.filter((name) => name.startsWith('.')), packages: outside.map(packageOf), addresses }
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
