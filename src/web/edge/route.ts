/**
 * The paths of the edge API. Clients put identifiers into the path as they are, so a path is read from its ends: `a/b`, `..` and `100%` are
 * identifiers. Escaped ones are understood too.
 */
import { isUtf8 } from 'node:buffer'
import { checkRefId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { EdgeDocument } from './documents.js'

export interface EdgeRoute {
  document: EdgeDocument
  input: { customerId?: string; productId?: string; billingCountryCode?: string; resourceId?: string; context?: string }
  /** `resourceId` and `resourceIds` of the query, in order. */
  resourceIds: string[]
  /** Of a customer's page: the environment that the caller takes the key to be of. */
  environmentId?: string
}

const customerPrefix = '/v1/c/'
const productPrefix = '/v1/p/'
const customerPages: readonly [suffix: string, document: EdgeDocument][] = [
  ['/entitlements.json', 'entitlements'],
  ['/entitlements-state.json', 'entitlementsState'],
  ['/subscriptions.json', 'activeSubscriptions'],
]
const paywallSuffix = '/paywall.json'
const configurationPaths = ['/v1/config/server-sdk-configuration.json', '/v1/config/client-sdk-configuration.json']

/** Reads the raw target of a request. Fails with NOT_FOUND when there is no such page, INVALID_ARGUMENT when an identifier is none. */
export function readRoute(raw: string): EdgeRoute {
  // Node hands on bytes beyond ASCII one by one.
  const target = beyondAscii.test(raw) ? decodeUtf8(Buffer.from(raw, 'latin1')) : raw
  const split = target.indexOf('?')
  const path = split < 0 ? target : target.slice(0, split)
  const query = split < 0 ? noQuery : readQuery(target.slice(split + 1))
  const resourceIds = split < 0 ? [] : [...query.getAll('resourceId'), ...query.getAll('resourceIds')].filter((id) => id !== '')
  if (path.startsWith(customerPrefix)) {
    for (const [suffix, document] of customerPages) {
      const id = between(path, customerPrefix, suffix)
      if (id !== null) {
        const input = { customerId: checkRefId(id, 'customerId') }
        return { document, input, resourceIds, ...(split < 0 ? {} : namedEnvironment(query)) }
      }
    }
  }
  const productId = between(path, productPrefix, paywallSuffix)
  if (path === `/v1${paywallSuffix}` || productId !== null) {
    const given = ['billingCountryCode', 'customerId', 'resourceId', 'context'].flatMap((name) => {
      const value = query.get(name)
      return value ? [[name, value]] : []
    })
    const input = { ...Object.fromEntries(given), ...(productId === null ? {} : { productId: checkRefId(productId, 'productId') }) }
    return { document: 'paywall', input, resourceIds }
  }
  if (configurationPaths.includes(path)) return { document: 'sdkConfiguration', input: {}, resourceIds }
  throw new Problem('NOT_FOUND', 'PAGE_NOT_FOUND', 'There is no such page in the edge API.')
}

function namedEnvironment(query: URLSearchParams): { environmentId?: string } {
  const environmentId = query.get('environmentId')
  return environmentId === null ? {} : { environmentId }
}

const noQuery = new URLSearchParams()

/** What is between the two, unescaped; null when the path is another one. */
function between(path: string, prefix: string, suffix: string): string | null {
  const isSuch = path.startsWith(prefix) && path.endsWith(suffix) && path.length > prefix.length + suffix.length
  return isSuch ? unescaped(path.slice(prefix.length, -suffix.length)) : null
}

const beyondAscii = /[\x80-\xff]/

/** Of escapes that are no text it would make U+FFFD. */
function readQuery(text: string): URLSearchParams {
  for (const escaped of text.match(escapes) ?? []) decodeEscapes(escaped)
  return new URLSearchParams(text)
}

const escapes = /(?:%[0-9a-f]{2})+/gi

/** Escapes become the text that they are; a percent sign that begins none is left as it came. */
const unescaped = (text: string): string => (text.includes('%') ? text.replace(escapes, decodeEscapes) : text)

const decodeEscapes = (escaped: string): string => decodeUtf8(Buffer.from(escaped.replaceAll('%', ''), 'hex'))

/** Different bytes that are none would become one text, and so would different identifiers. */
function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidInput('The address is not UTF-8.')
  return bytes.toString('utf8')
}
