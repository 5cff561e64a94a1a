// Starts the editor. The key is kept by the editor in this browser's storage, like the queries.
const { createElement } = React
const fetcher = GraphiQL.createFetcher({ url: '/graphql' })
const firstQuery = `# Put a server key into the headers below, then press the play button.
query MayTheyUseIt {
  entitlement(query: { customerId: "customer-1", featureId: "api-calls", options: { requestedUsage: 1 } }) {
    isGranted
    accessDeniedReason
    currentUsage
    usageLimit
  }
}
`
ReactDOM.createRoot(document.getElementById('editor')).render(
  createElement(GraphiQL, {
    fetcher,
    defaultQuery: firstQuery,
    defaultHeaders: JSON.stringify({ 'X-API-KEY': 'paste-a-server-key-here' }, null, 2),
    defaultEditorToolsVisibility: 'headers',
    shouldPersistHeaders: true,
  }),
)
