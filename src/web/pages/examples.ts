import type { Token, TokensList } from 'marked'

/** A request of a page: a block of GraphQL, and a block of JSON with its variables. */
export interface ExampleRequest {
  query: string
  variables: object | null
}

/** The address that the pages name. */
export const writtenAddress = 'http://127.0.0.1:4000'

/** To be pasted into a shell. Nothing in it needs to be escaped for that. */
export function curlExample({ query, variables }: ExampleRequest): string {
  const body = JSON.stringify({ query: oneLine(query), ...(variables ? { variables } : {}) }, null, 2)
  return `curl -s ${writtenAddress}/graphql \\
  -H "X-API-KEY: $SERVER_API_KEY" \\
  -H 'content-type: application/json' \\
  -d @- <<'END'
${body}
END`
}

/** For Node and browsers, with nothing to install. */
export function typescriptExample({ query, variables }: ExampleRequest): string {
  const text = query
    .trim()
    .replaceAll('\n', '\n      ')
    .replace(/[`\\]|\$\{/g, '\\$&')
  const given = variables ? `\n    variables: ${JSON.stringify(variables, null, 2).replaceAll('\n', '\n    ')},` : ''
  return `const response = await fetch('${writtenAddress}/graphql', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'X-API-KEY': process.env.SERVER_API_KEY!,
  },
  body: JSON.stringify({
    query: \`
      ${text}
    \`,${given}
  }),
})
const { data, errors } = await response.json()`
}

/** The same page with each request in curl and TypeScript below it. */
export function withExamples(tokens: TokensList): Token[] {
  return tokens.flatMap((token, index) => {
    const request = requestThatEndsAt(tokens, index)
    return request
      ? [token, ...folded('curl', 'sh', curlExample(request)), ...folded('TypeScript', 'ts', typescriptExample(request))]
      : [token]
  })
}

/** The request that is whole with this block: one of GraphQL without variables, or the variables of the one before. */
function requestThatEndsAt(tokens: readonly Token[], index: number): ExampleRequest | null {
  const query = queryOf(tokens[index])
  if (query !== null) return variablesOf(blockAfter(tokens, index)) ? null : { query, variables: null }
  const variables = variablesOf(tokens[index])
  const before = variables && queryOf(blockBefore(tokens, index))
  return before ? { query: before, variables } : null
}

const isBlank = (token: Token | undefined) => token?.type === 'space'
const blockAfter = (tokens: readonly Token[], index: number) => tokens[isBlank(tokens[index + 1]) ? index + 2 : index + 1]
const blockBefore = (tokens: readonly Token[], index: number) => tokens[isBlank(tokens[index - 1]) ? index - 2 : index - 1]

/** Subscriptions go over WebSocket. */
const queryOf = (token: Token | undefined): string | null =>
  token?.type === 'code' && token.lang === 'graphql' && /^\s*(?:query|mutation|\{)/.test(token.text) ? (token.text as string) : null

/** Null: it is something else, or an answer. */
function variablesOf(token: Token | undefined): object | null {
  if (token?.type !== 'code' || token.lang !== 'json') return null
  try {
    const value = JSON.parse(token.text as string) as object
    return 'data' in value || 'errors' in value ? null : value
  } catch {
    return null
  }
}

function folded(title: string, lang: string, text: string): Token[] {
  const html = (raw: string): Token => ({ type: 'html', raw, text: raw, pre: false, block: true })
  return [html(`<details class="example"><summary>${title}</summary>\n`), { type: 'code', raw: text, lang, text }, html('</details>\n')]
}

const oneLine = (query: string) => query.replace(/\s+/g, ' ').trim()
