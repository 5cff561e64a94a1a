// Starts the editor. It keeps the queries in this browser's storage; headers, with a key that is typed into them, only when its settings say so, and a key that
// came with the page never.
const { createElement } = React
const editor = document.getElementById('editor')
const { key } = editor.dataset
const placeholder = 'paste-a-server-key-here'
const send = GraphiQL.createFetcher({ url: '/graphql' })

/** The key of the page goes with every request, unless the headers name another one. */
function fetcher(params, options) {
  const { headers = {}, ...rest } = options ?? {}
  const given = Object.entries(headers).filter(([, value]) => value !== placeholder)
  const hasKey = given.some(([name]) => name.toLowerCase() === 'x-api-key')
  return send(params, { ...rest, headers: { ...Object.fromEntries(given), ...(key && !hasKey ? { 'X-API-KEY': key } : {}) } })
}

const firstQuery = `# ${
  key
    ? 'The key of your local environment is sent with every request: press the play button.'
    : 'Put a server key into the headers below, then press the play button.'
}
query MayTheyUseIt {
  entitlement(query: { customerId: "customer-1", featureId: "api-calls", options: { requestedUsage: 1 } }) {
    isGranted
    accessDeniedReason
    currentUsage
    usageLimit
  }
}
`
const headers = key
  ? { shouldPersistHeaders: false }
  : {
      defaultHeaders: JSON.stringify({ 'X-API-KEY': placeholder }, null, 2),
      defaultEditorToolsVisibility: 'headers',
    }
ReactDOM.createRoot(editor).render(createElement(GraphiQL, { fetcher, defaultQuery: firstQuery, ...headers }))
