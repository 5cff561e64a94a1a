/**
 * Where a Redis is, as a URL says it:
 *
 * one server   redis://user:password@host:6379/0
 * Cluster      redis+cluster://user:password@host:7000,host:7001,host:7002     some of its nodes, from which the others are learned
 * Sentinel     redis+sentinel://user:password@host:26379,host:26379/name/0     its sentinels, and what they call the primary
 *
 * User and password are those of Redis. Sentinels have their own, if any: `?sentinel_username=…&sentinel_password=…`. `rediss`, `rediss+cluster` and
 * `rediss+sentinel` are encrypted, the questions to the sentinels too.
 *
 * What is wrong is said without repeating any of it: where a password is not encoded as it must be, its pieces are anywhere.
 */

export interface RedisNode {
  host: string
  port: number
}

export interface RedisAccess {
  username: string | undefined
  password: string | undefined
}

interface Shared extends RedisAccess {
  nodes: RedisNode[]
  isEncrypted: boolean
}

export type RedisAddress =
  /** What the URL says is for the client to read. */
  | { kind: 'server'; url: string }
  | ({ kind: 'cluster' } & Shared)
  | ({ kind: 'sentinel'; name: string; db: number; ofSentinels: RedisAccess } & Shared)

const severalNodes = /^redis(s)?\+(cluster|sentinel):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(\/[^@?#]*)?(?:\?([^@#]*))?$/

const forms = 'redis://host:port/db, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name/db'
const encoding = 'must have what is special in user, password and name percent-encoded, such as %40 for @'
const [sentinelUsername, sentinelPassword] = ['sentinel_username', 'sentinel_password'] as const

/**
 * Reads the URL of a Redis.
 * @throws Error that says what it must be, and never repeats it: it may carry a password
 */
export function parseRedisAddress(url: string): RedisAddress {
  if (!isOfSeveral(url)) return { kind: 'server', url: oneServer(url) }
  const several = severalNodes.exec(url)
  if (!several) throw new Error(/^rediss?\+(cluster|sentinel):\/\//.test(url) ? encoding : `must be a URL such as ${forms}`)
  const [, encrypted, kind, access = '', hosts = '', path = '', parameters = ''] = several
  const shared = {
    nodes: nodesOf(hosts, kind === 'cluster' ? 6379 : 26379),
    ...complete(accessIn(access)),
    isEncrypted: encrypted !== undefined,
  }
  const ofSentinels = sentinelAccess(parameters)
  const [name = '', db = '', ...rest] = path.slice(1).split('/')
  if (kind === 'cluster') {
    if (parameters !== '') throw new Error('must have no parameters: a cluster takes none')
    if ((name !== '' && name !== '0') || db !== '') throw new Error('must name no database: a cluster has one only')
    return { kind, ...shared }
  }
  if (name === '' || rest.length > 0 || !/^\d*$/.test(db))
    throw new Error('must name what the sentinels call the primary, as in redis+sentinel://host:port,host:port/name')
  return { kind: 'sentinel', ...shared, name: decoded(name), db: Number(db), ofSentinels }
}

function sentinelAccess(parameters: string): RedisAccess {
  const given = new URLSearchParams(parameters)
  if ([...given.keys()].some((name) => name !== sentinelUsername && name !== sentinelPassword))
    throw new Error(`must have no parameters but ${sentinelUsername} and ${sentinelPassword}`)
  const [username, password] = [given.get(sentinelUsername) || undefined, given.get(sentinelPassword) || undefined]
  if (username !== undefined && password === undefined) throw new Error(`must have a ${sentinelPassword} beside ${sentinelUsername}`)
  return { username, password }
}

/** A user that is named without a password would not be asked for: Redis would take whoever comes for its default user. */
function complete(access: RedisAccess): RedisAccess {
  if (access.username !== undefined && access.password === undefined)
    throw new Error('must have a password beside the user, as in redis://user:password@host:port')
  return access
}

/** Whether it begins as one of the forms, whatever follows. */
export const isRedisUrl = (url: string): boolean => /^rediss?(\+cluster|\+sentinel)?:\/\//.test(url)

/** Whether it is that of a cluster, where keys that are used together must be in one slot. */
export const isOfCluster = (url: string): boolean => /^rediss?\+cluster:/.test(url)

/** Whether it is that of sentinels. */
export const isOfSentinel = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** Without its parameters, but for those of a Redis; and these. */
export function withoutParameters(url: string): { url: string; parameters: URLSearchParams } {
  const [base = '', ...rest] = url.split('?')
  const parameters = new URLSearchParams(rest.join('?'))
  const ofSentinels = { username: parameters.get(sentinelUsername) ?? undefined, password: parameters.get(sentinelPassword) ?? undefined }
  for (const name of [sentinelUsername, sentinelPassword]) parameters.delete(name)
  return { url: withSentinelAccess(base, ofSentinels), parameters }
}

/** With these parameters beside those of a Redis. */
export const withParameters = (url: string, parameters: string): string => `${url}${url.includes('?') ? '&' : '?'}${parameters}`

/** With what sentinels ask for, which they did not yet. */
export function withSentinelAccess(url: string, { username, password }: RedisAccess): string {
  const named = Object.entries({ [sentinelUsername]: username, [sentinelPassword]: password }).filter(([, value]) => value !== undefined)
  return named.length === 0 ? url : withParameters(url, named.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&'))
}

/** With user and password in the place of those that it has. */
export function withAccess(url: string, username: string | undefined, password: string | undefined): string {
  const access = `${encodeURIComponent(username ?? '')}${password === undefined ? '' : `:${encodeURIComponent(password)}`}`
  return url.replace(/^([^:]+:\/\/)(?:[^@/?#]*@)?/, (_, scheme: string) => `${scheme}${access === '' ? '' : `${access}@`}`)
}

/** User and password; each undefined where there is none. */
export const accessOf = (url: string): RedisAccess => accessIn(/^[^:]+:\/\/([^@/?#]*)@/.exec(url)?.[1] ?? '')

function accessIn(text: string): RedisAccess {
  const [username = '', password = ''] = text.split(':', 2).map(decoded)
  return { username: username || undefined, password: password || undefined }
}

/** A cluster, or by Sentinel. */
export const isOfSeveral = (url: string): boolean => /^rediss?\+/.test(url)

/**
 * The host of a Redis as a setting of its own, beside which there are others for user, password, encryption and database: a name or an address, an IPv6 one
 * with its brackets or without, or several servers. Answers it as URLs write it.
 * @throws Error that says what it must be, and never repeats it
 */
export function hostAlone(input: string): string {
  if (isOfSeveral(input)) return hostOfSeveral(input)
  const written = input.includes(':') && !input.startsWith('[') ? `[${input}]` : input
  const url = `redis://${written}`
  if (written.includes(',') || !URL.canParse(url) || new URL(url).host.toLowerCase() !== written.toLowerCase())
    throw new Error(`must be the name or address of a host and nothing else, ${severalHosts}`)
  return written
}

const severalHosts = 'or redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/name'

function hostOfSeveral(input: string): string {
  const address = parseRedisAddress(input) as Exclude<RedisAddress, { kind: 'server' }>
  const { username, password, isEncrypted } = address
  if (username !== undefined || password !== undefined || isEncrypted || input.includes('?'))
    throw new Error(`must be a host, ${severalHosts}, without user, password and encryption: those are set by themselves`)
  if (address.kind === 'sentinel' && !/^[^/]+\/\/[^/]+\/[^/]+$/.test(input)) throw new Error('must name no database: that is set by itself')
  return input.replace(/\/$/, '')
}

/** The URL of what is set by itself. `host`: of `hostAlone`. */
export function urlOfParts({ host, port, db, isEncrypted }: { host: string; port: number; db: number; isEncrypted: boolean }): string {
  const scheme = isEncrypted ? 'rediss' : 'redis'
  if (!isOfSeveral(host)) return `${scheme}://${host}:${port}/${db}`
  const servers = host.replace(/^redis/, scheme)
  return isOfCluster(servers) ? servers : `${servers}/${db}`
}

function oneServer(url: string): string {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(url)?.[1]
  if (scheme !== undefined && !/^rediss?$/i.test(scheme))
    throw new Error(`must be a URL such as ${forms}, and does not begin with ${scheme}://`)
  if (scheme === undefined || !URL.canParse(url)) {
    if (/^rediss?:\/\/[^@/?#]*@?[^@/?#]+,/.test(url)) throw new Error(hosts)
    throw new Error(url.includes('@') ? `${encoding}, in a URL such as ${forms}` : `must be a URL such as ${forms}`)
  }
  const { hostname, pathname, search, hash } = new URL(url)
  if (hostname.includes(',')) throw new Error(hosts)
  if ([pathname, search, hash].some((part) => part.includes('@'))) throw new Error(encoding)
  if (hostname === '') throw new Error(`must name a host, as in ${forms}`)
  if (!/^(\/\d*)?$/.test(pathname) || hash !== '')
    throw new Error('must end with the host, its port or the number of a database, as in redis://host:6379/0')
  if ([sentinelUsername, sentinelPassword].some((name) => new URLSearchParams(search).has(name)))
    throw new Error('must begin with redis+sentinel:// to be asked of sentinels')
  complete(accessOf(url))
  return url
}

const hosts = 'names several hosts: it must begin with redis+cluster:// or redis+sentinel:// then'

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
