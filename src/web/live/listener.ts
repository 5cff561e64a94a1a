import { Problem } from '../../kernel/problem.js'
import { type Authenticator, type Credentials, credentialsOf, type Identity, identify } from '../access/auth.js'

/** What is read of the payload of `connection_init`. */
export type ConnectionParams = Readonly<Partial<Record<keyof Credentials, string>>>

/** Without a valid customer token a client key would hear of every customer. */
export async function identifyListener(environments: Authenticator, credentials: Credentials, address: string): Promise<Identity> {
  const identity = await identify(environments, credentials, address)
  if (identity.kind === 'CLIENT' && identity.customerId === null)
    throw new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', 'A client key needs the signed token of a customer: X-CUSTOMER-KEY.')
  return identity
}

/** `{ headers: { "X-API-KEY": … } }`, names in any case. */
export function payloadCredentials(payload: Readonly<Record<string, unknown>> | undefined): ConnectionParams {
  const headers = payload?.headers
  if (typeof headers !== 'object' || headers === null) return {}
  const entries = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value]] : []))
  return Object.fromEntries(Object.entries(credentialsOf(Object.fromEntries(entries))).filter(([, value]) => value !== undefined))
}

export const isRefusedKey = ({ code }: Problem) => code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED'
