/** A package that others install, made of the files that its entries reach. */
export interface PackageDefinition {
  name: string
  description: string
  /** What a program that imports it gets; paths from the root of the repository, without extension. Null: there is nothing to import. */
  library: string | null
  /** Command by name, to the file that it runs. */
  commands: Readonly<Record<string, string>>
  /** Programs that the library starts. */
  processes: readonly string[]
  /** Packages that it uses when they are there. */
  optional: readonly string[]
}

export const packages: readonly PackageDefinition[] = [
  {
    name: 'tollgate-server',
    description: 'Checks of entitlements in the process of a Node application, and the operations of a Tollgate platform',
    library: 'src/sdk/server/index',
    commands: {},
    processes: [],
    optional: [],
  },
  {
    name: 'tollgate-sidecar',
    description: 'Client of a Tollgate sidecar for Node applications, and the sidecar itself as their child process',
    library: 'src/sdk/sidecar/index',
    commands: {},
    processes: ['src/sidecar/child-main'],
    // On a terminal the lines of the sidecar are readable ones.
    optional: ['pino-pretty'],
  },
  {
    name: 'tollgate',
    description: 'Command line of a Tollgate platform: catalogs, environments and keys',
    library: null,
    commands: { tollgate: 'src/cli/main' },
    processes: [],
    optional: [],
  },
]
