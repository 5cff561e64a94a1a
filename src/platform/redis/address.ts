/**
 * Where a Redis is, as a URL says it:
 *
 * one server   redis://user:password@host:6379/0
 * Cluster      redis+cluster://user:password@host:7000,host:7001,host:7002     some of its nodes, from which the others are learned
 * Sentinel     redis+sentinel://user:password@host:26379,host:26379/name/0     its sentinels, and what they call the primary
 *
 * `rediss`, `rediss+cluster` and `rediss+sentinel` are encrypted; sentinels are asked without, and without a password: user and password are those of Redis.
 */

export interface RedisNode {
  host: string
  port: number
}

interface Access {
  username: string | undefined
  password: string | undefined
  isEncrypted: boolean
}

export type RedisAddress =
  /** What the URL says is for the client to read. */
  | { kind: 'server'; url: string }
  | ({ kind: 'cluster'; nodes: RedisNode[] } & Access)
  | ({ kind: 'sentinel'; nodes: RedisNode[]; name: string; db: number } & Access)

const severalNodes = /^redis(s)?\+(cluster|sentinel):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(\/[^?#]*)?(.*)$/

const forms = 'redis://host:port/db, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name/db'

/**
 * Reads the URL of a Redis. Parameters after `?` are for whoever has put them there.
 * @throws Error that says what it must be, and never repeats it: it may carry a password
 */
export function parseRedisAddress(url: string): RedisAddress {
  const several = severalNodes.exec(url)
  if (!several) return { kind: 'server', url: oneServer(url) }
  const [, encrypted, kind, access = '', hosts = '', path = ''] = several
  const [username, password] = access.split(':', 2).map(decoded)
  const shared: Access & { nodes: RedisNode[] } = {
    nodes: nodesOf(hosts, kind === 'cluster' ? 6379 : 26379),
    username: username || undefined,
    password: password || undefined,
    isEncrypted: encrypted !== undefined,
  }
  const [name = '', db = '', ...rest] = path.slice(1).split('/')
  if (kind === 'cluster') {
    if ((name !== '' && name !== '0') || db !== '') throw new Error('must name no database: a cluster has one only')
    return { kind, ...shared }
  }
  if (name === '' || rest.length > 0 || !/^\d*$/.test(db))
    throw new Error('must name what the sentinels call the primary, as in redis+sentinel://host:port,host:port/name')
  return { kind: 'sentinel', ...shared, name: decoded(name), db: Number(db) }
}

/** Whether it begins as one of the forms, whatever follows. */
export const isRedisUrl = (url: string): boolean => /^rediss?(\+cluster|\+sentinel)?:\/\//.test(url)

/** Whether it is that of a cluster, where keys that are used together must be in one slot. */
export const isOfCluster = (url: string): boolean => /^rediss?\+cluster:/.test(url)

/** Without its parameters, and these. */
export function withoutParameters(url: string): { url: string; parameters: URLSearchParams } {
  const [base = '', ...parameters] = url.split('?')
  return { url: base, parameters: new URLSearchParams(parameters.join('?')) }
}

/** With user and password in the place of those that it has. */
export function withAccess(url: string, username: string | undefined, password: string | undefined): string {
  const access = `${encodeURIComponent(username ?? '')}${password === undefined ? '' : `:${encodeURIComponent(password)}`}`
  return url.replace(/^([^:]+:\/\/)(?:[^@/?#]*@)?/, (_, scheme: string) => `${scheme}${access === '' ? '' : `${access}@`}`)
}

/** User and password; each undefined where there is none. */
export function accessOf(url: string): { username: string | undefined; password: string | undefined } {
  const [username, password] = (/^[^:]+:\/\/([^@/?#]*)@/.exec(url)?.[1] ?? '').split(':', 2)
  return { username: username ? decoded(username) : undefined, password: password ? decoded(password) : undefined }
}

/** A cluster, or by Sentinel. */
export const isOfSeveral = (url: string): boolean => /^rediss?\+/.test(url)

/**
 * Several servers as a setting of the host alone, beside which there are others for user, password, encryption and database.
 * @throws Error that says what it must be
 */
export function hostOfSeveral(input: string): string {
  const address = parseRedisAddress(input)
  if (address.kind === 'server' || address.username !== undefined || address.password !== undefined || address.isEncrypted)
    throw new Error(
      'must be a host, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name, without user and password',
    )
  if (address.kind === 'sentinel' && !/^[^/]+\/\/[^/]+\/[^/]+$/.test(input)) throw new Error('must name no database: that is set by itself')
  return input.replace(/\/$/, '')
}

/** The URL of what is set by itself. `host`: as URLs write it, or `hostOfSeveral`. */
export function urlOfParts({ host, port, db, isEncrypted }: { host: string; port: number; db: number; isEncrypted: boolean }): string {
  const scheme = isEncrypted ? 'rediss' : 'redis'
  if (!isOfSeveral(host)) return `${scheme}://${host}:${port}/${db}`
  const servers = host.replace(/^redis/, scheme)
  return isOfCluster(servers) ? servers : `${servers}/${db}`
}

function oneServer(url: string): string {
  const scheme = URL.canParse(url) ? new URL(url).protocol.slice(0, -1) : null
  if (scheme === null) throw new Error(`must be a URL such as ${forms}`)
  if (scheme !== 'redis' && scheme !== 'rediss') throw new Error(`must be a URL such as ${forms}, and does not begin with ${scheme}://`)
  return url
}

function nodesOf(hosts: string, defaultPort: number): RedisNode[] {
  return hosts.split(',').map((text) => {
    const [, bracketed, plain, port] = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? []
    const host = bracketed ?? plain
    if (host === undefined) throw new Error(`must name hosts with commas between, each as host:port, as in ${forms}`)
    const number = port === undefined ? defaultPort : Number(port)
    if (number < 1 || number > 65_535) throw new Error('must name ports from 1 to 65535')
    return { host, port: number }
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('must have what is special in user, password and name percent-encoded')
  }
}
