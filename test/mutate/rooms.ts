import { isPure, rooms } from '../support/rooms.js'

/** What is mutated together, and tested by what stands under the same path in test/unit. */
export interface Room {
  name: string
  /** Files of the folder that only compute, where others there do not; else it is all of them. */
  files?: readonly string[]
}

/** What a reader of states decides, without what it talks to. */
const reader: readonly Room[] = [
  { name: 'src/reader/states' },
  { name: 'src/reader/api', files: ['clock.ts', 'outage.ts'] },
  { name: 'src/reader/cache', files: ['memory.ts'] },
]

/** What doors and clients decide, without what they talk to. */
const doors: readonly Room[] = [
  { name: 'src/metering/intake', files: ['waiting-room.ts'] },
  { name: 'src/sdk', files: ['freshness.ts'] },
  { name: 'src/sdk/server', files: ['answers.ts', 'pending-usage.ts'] },
  { name: 'src/sidecar/grpc', files: ['checks.ts', 'encoding.ts', 'errors.ts', 'field-count.ts', 'mapping.ts'] },
]

export const mutatedRooms: readonly Room[] = [...rooms.filter(isPure).map((name) => ({ name })), ...reader, ...doors]

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

/** The rooms that the paths name, or a part of: a path is a folder around rooms, a room, or a file. All without paths. */
export function selectRooms(paths: readonly string[]): Room[] {
  if (paths.length === 0) return [...mutatedRooms]
  return mutatedRooms.flatMap((room) => {
    if (paths.some((path) => isWithin(room.name, path))) return [room]
    const files = paths.filter((path) => isWithin(path, room.name)).map((path) => path.slice(room.name.length + 1))
    const named = files.filter((file) => room.files === undefined || room.files.includes(file))
    return named.length > 0 ? [{ ...room, files: named }] : []
  })
}
