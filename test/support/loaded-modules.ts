// Loaded into a process before anything else (`node --import=…/loaded-modules.js?of=@scope`), it says at the end which packages of the scope were loaded.
import { createRequire } from 'node:module'

const scope = new URL(import.meta.url).searchParams.get('of')!
const { cache } = createRequire(import.meta.url)

process.once('exit', () => {
  const names = Object.keys(cache).flatMap((file) => new RegExp(`/node_modules/(${scope}/[^/]+)/`).exec(file)?.[1] ?? [])
  for (const name of new Set(names)) process.stdout.write(`loaded ${name}\n`)
})
