import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from './processes/os-process.js'

/** What a running platform tells the other commands of its folder: `.data/platform.json`. It holds keys, so only its owner may read it. */
export interface PlatformFile {
  /** The runner. */
  pid: number
  webUrl: string
  wsUrl: string
  /** host:port of the gRPC service. */
  sidecarAddress: string
  sidecarHttpUrl: string
  /** Base of the web process's /metrics. */
  webMetricsUrl: string
  serverApiKey: string
  operatorKey: string
  secretsKey: string
  environmentRefId: string
  databaseUrl: string
  redisUrl: string
  processes: Record<string, PlatformProcess>
}

interface PlatformProcess {
  port: number
  /** Base of /livez and /readyz, and but for the web process /metrics. */
  healthUrl: string
  /** Null while the process waits to be restarted. */
  pid: number | null
}

const fileOf = (dataFolder: string) => join(dataFolder, 'platform.json')

/** The platform that runs from this data folder, or null: none was started, or it is gone. */
export function readPlatform(dataFolder: string): PlatformFile | null {
  const platform = readAnyPlatform(dataFolder)
  return platform && isRunning(platform.pid, 'node') ? platform : null
}

/** As `readPlatform`, also of a runner that is gone. */
export function readAnyPlatform(dataFolder: string): PlatformFile | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataFolder), 'utf8')) as PlatformFile
  } catch {
    return null
  }
}

/** Replaces the file in one step: a reader sees the old or the new one. */
export function writePlatform(dataFolder: string, platform: PlatformFile): void {
  const unfinished = `${fileOf(dataFolder)}.${process.pid}`
  writeFileSync(unfinished, `${JSON.stringify(platform, null, 2)}\n`, { mode: 0o600 })
  renameSync(unfinished, fileOf(dataFolder))
}

export function removePlatform(dataFolder: string): void {
  rmSync(fileOf(dataFolder), { force: true })
}
