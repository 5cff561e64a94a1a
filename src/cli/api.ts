/** GraphQL over HTTP, as far as a command needs it. */

import type { CatalogChange, CatalogProblem } from './output.js'

/** As in `errors[].extensions`; when nothing was answered only a code. */
interface ErrorFacts {
  code: string
  /** What is wrong with a catalog document. */
  problems?: readonly CatalogProblem[]
  /** Of the catalog in force, when it is not the one that was expected; and what a document would change in it. */
  version?: string
  changes?: readonly CatalogChange[]
  [fact: string]: unknown
}

/** An API cannot be asked, or refuses. The message says what to do. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    message: string,
    readonly extensions: Readonly<ErrorFacts>,
  ) {
    super(message)
  }
}

interface ApiOptions {
  /** Without `/graphql`. */
  url: string
  header: 'X-API-KEY' | 'X-OPERATOR-KEY'
  /** The variable that the key comes from. */
  variable: string
  key: string
}

/** A catalog of thousands of definitions takes some seconds. */
const timeoutMs = 60_000

export class Api {
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.#options = options
  }

  get url(): string {
    return this.#options.url
  }

  /** Fails with an ApiError. */
  async ask<Data>(query: string, variables: object = {}): Promise<Data> {
    const response = await this.#post(JSON.stringify({ query, variables }))
    const body = await this.#bodyOf(response)
    const [error] = body.errors ?? []
    if (!error) return body.data as Data
    const { code = 'Unknown' } = error.extensions ?? {}
    throw new ApiError(this.#explain(code, error.message), { ...error.extensions, code })
  }

  async #post(body: string): Promise<Response> {
    const { url, header, key } = this.#options
    try {
      return await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [header]: key },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      })
    } catch (error) {
      const reason = reasonOf(error)
      throw new ApiError(`No Tollgate answers at ${url} (${reason}): start it, or set TOLLGATE_URL to where it is.`, {
        code: 'Unreachable',
      })
    }
  }

  async #bodyOf(response: Response): Promise<Body> {
    const text = await response.text().catch(() => '')
    try {
      const body = JSON.parse(text) as Body | null
      if (body && (body.data || body.errors)) return body
    } catch {}
    if (response.status >= 500)
      throw new ApiError(`${this.#options.url} cannot answer at the moment (HTTP ${response.status}): try again.`, { code: 'Unreachable' })
    throw new ApiError(
      `What answers at ${this.#options.url}/graphql (HTTP ${response.status}) is no Tollgate: set TOLLGATE_URL to the address of its web process, without /graphql.`,
      { code: 'Unreachable' },
    )
  }

  #explain(code: string, message: string): string {
    const { url, variable } = this.#options
    if (code === 'Unauthenticated') return `${url} does not accept the key of ${variable}: ${message}`
    if (code === 'IdentityForbidden') return `The key of ${variable} may not do this: ${message}`
    return message
  }
}

interface Body {
  data?: unknown
  errors?: { message: string; extensions?: Partial<ErrorFacts> }[]
}

/** Of what `fetch` fails with: the system's code, or a sentence. */
function reasonOf(error: unknown): string {
  const { name, cause, message } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`
  return cause?.code ?? cause?.message ?? message
}
