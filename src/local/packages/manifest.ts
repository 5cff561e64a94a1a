import type { PackageDefinition } from './packages.js'

/** The part of `package-lock.json` that is read here. */
export interface Lock {
  packages: Readonly<Record<string, LockedPackage | undefined>>
}

interface LockedPackage {
  version?: string
  peerDependencies?: Readonly<Record<string, string>>
  peerDependenciesMeta?: Readonly<Record<string, { optional?: boolean }>>
}

/** What all packages have in common with the platform. */
export interface RootManifest {
  version: string
  license: string
  engines: { node: string }
}

/** Where `require` loads modules too, as `import` does. */
const requiringNode = '^20.19.0 || >=22.12.0'

/** The `package.json` of a package that imports these packages: each in the version that the platform is tested with. */
export function manifestOf(
  { name, description, library, commands, optional }: PackageDefinition,
  { root, lock, imported }: { root: RootManifest; lock: Lock; imported: readonly string[] },
) {
  const locked = (dependency: string): LockedPackage & { version: string } => {
    const { version, ...rest } = lock.packages[`node_modules/${dependency}`] ?? {}
    if (version === undefined) throw new Error(`${name} imports ${dependency}, which is not in package-lock.json`)
    return { version, ...rest }
  }
  // What those want beside them is not left to the package manager: not every one brings it.
  const wanted = imported.flatMap((dependency) => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = locked(dependency)
    return Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional)
  })
  const needed = [...new Set([...imported, ...wanted])].filter((dependency) => !optional.includes(dependency)).sort()
  return {
    name,
    version: root.version,
    description,
    license: root.license,
    type: 'module',
    engines: library === null ? root.engines : { node: requiringNode },
    // For tools that do not read `exports`, such as TypeScript's older way to find modules.
    ...(library === null ? {} : { main: `./dist/${library}.js`, types: `./dist/${library}.d.ts` }),
    exports: {
      ...(library === null ? {} : { '.': { types: `./dist/${library}.d.ts`, default: `./dist/${library}.js` } }),
      './package.json': './package.json',
    },
    ...(Object.keys(commands).length === 0 ? {} : { bin: mapped(commands, (file) => `dist/${file}.js`) }),
    dependencies: Object.fromEntries(needed.map((dependency) => [dependency, locked(dependency).version])),
    ...(optional.length === 0
      ? {}
      : {
          peerDependencies: Object.fromEntries(optional.map((dependency) => [dependency, `^${locked(dependency).version}`])),
          peerDependenciesMeta: Object.fromEntries(optional.map((dependency) => [dependency, { optional: true }])),
        }),
  }
}

const mapped = (record: Readonly<Record<string, string>>, change: (value: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
