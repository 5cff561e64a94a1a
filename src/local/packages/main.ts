// `npm run packages`
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackages } from './build.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
for (const { tarball } of await buildPackages(root, join(root, 'dist', 'packages'))) console.log(relative(root, tarball))
