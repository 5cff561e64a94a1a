import { readFileSync } from 'node:fs'

interface LockedPackage {
  license?: string
  dev?: boolean
  link?: boolean
}

/** A package that `npm ci --omit=dev` installs, on one system or another. */
export interface ProductionPackage {
  folder: string
  name: string
  licence: string
}

/** Those that the lock file says. */
export function productionPackages(): ProductionPackage[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockedPackage> }
  return Object.entries(packages)
    .filter(([folder, { dev, link }]) => folder !== '' && !dev && !link)
    .map(([folder, { license = 'none' }]) => ({ folder, name: folder.replace(/^.*node_modules\//, ''), licence: license }))
}

/** A line each, as the list in `test/cases` has them. */
export function listOf(packages: readonly ProductionPackage[]): string {
  const lines = new Set(packages.map(({ name, licence }) => `${name}: ${licence}`))
  return `${[...lines].sort().join('\n')}\n`
}

if (process.argv[1]?.endsWith('/production-packages.js')) process.stdout.write(listOf(productionPackages()))
