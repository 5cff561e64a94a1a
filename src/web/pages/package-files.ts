import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Pages, style sheets and scripts are read from the source tree: the compiler leaves them where they are. */

/** Of this package: where its package.json is. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)))

export const readAsset = (name: string): string => readFileSync(join(packageRoot, 'src/web/assets', name), 'utf8')

/** A file of an installed package, or null when it is not installed. */
export function findInstalled(path: string): string | null {
  for (let directory = packageRoot; ; directory = dirname(directory)) {
    const file = join(directory, 'node_modules', path)
    if (existsSync(file)) return file
    if (directory === dirname(directory)) return null
  }
}

function findRoot(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory
  if (directory === dirname(directory)) throw new Error('package.json was not found above the program')
  return findRoot(dirname(directory))
}
