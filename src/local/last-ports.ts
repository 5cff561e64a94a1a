import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** By the name of a service or process: the ports of the last run, so that what somebody has written down stays right. In `.data/ports.json`. */
export type LastPorts = Readonly<Record<string, number>>

const fileOf = (dataFolder: string) => join(dataFolder, 'ports.json')

export function readLastPorts(dataFolder: string): LastPorts {
  try {
    return JSON.parse(readFileSync(fileOf(dataFolder), 'utf8')) as LastPorts
  } catch {
    // The first run, or a file cut off by a crash: any port will do.
    return {}
  }
}

/** Those that are not named stay. */
export function rememberPorts(dataFolder: string, ports: LastPorts): void {
  writeFileSync(fileOf(dataFolder), JSON.stringify({ ...readLastPorts(dataFolder), ...ports }))
}
