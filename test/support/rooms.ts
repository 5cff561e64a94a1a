import { dirname } from 'node:path'

/**
 * The rooms, from the lowest to the highest: a file may use what is in its own folder and in rooms before it, and nothing else. What belongs
 * together stands on one line. The list is the whole rule: there is no exception to it.
 */
export const rooms = `
  src/kernel
  src/cli
  src/platform/context src/platform/epoch src/platform/redis src/platform src/platform/queue src/platform/list src/platform/retention src/platform/cloud src/platform/release
  src/audit/model src/audit/record src/audit
  src/environment/model src/environment/records src/environment
  src/metering/model
  src/notifications/model
  src/changes/model src/changes/wire src/changes
  src/catalog/model src/catalog/document src/catalog/thread src/catalog/records src/catalog
  src/customer/model src/customer/records src/customer
  src/metering/wire src/metering/counting src/metering/retention src/metering/ingestion/batch
  src/metering/ingestion/reports/fast src/metering/ingestion/reports src/metering/ingestion/events/fast src/metering/ingestion/events
  src/metering/ingestion src/metering/aggregation src/metering/history src/metering/corrections src/metering/intake
  src/subscription/rules
  src/billing/rules src/billing/records src/billing/builtin src/billing
  src/subscription/records src/subscription/use-cases src/subscription/time src/subscription
  src/entitlement/rules src/entitlement/records src/entitlement
  src/estimates src/provisioning
  src/updates/wire src/updates/held src/updates/stream src/updates/deliver src/updates/external-cache
  src/notifications/webhooks/rules src/notifications/webhooks/records src/notifications/webhooks
  src/notifications/alerts/rules src/notifications/alerts/records src/notifications/alerts
  src/notifications/evaluation/rules src/notifications/evaluation/records src/notifications/evaluation
  src/reader/states src/reader/cache src/reader/api src/reader/source
  src/sdk src/sdk/sidecar src/sdk/server/operations/types src/sdk/server/operations src/sdk/server
  src/web/access src/web/graphql/schema src/web/graphql/lists src/web/graphql/operations src/web/pages
  src/web/graphql/audit src/web/graphql/catalog src/web/graphql/environment src/web/graphql/entitlement src/web/graphql/customer src/web/graphql/updates
  src/web/graphql/usage src/web/graphql/billing src/web/graphql/door src/web/edge src/web/graphql/subscription src/web/live src/web/graphql/estimates
  src/web/graphql/paywall src/web/graphql/webhooks src/web/graphql/alerts src/web/graphql/provisioning src/web/http src/web/graphql
  src/sidecar/config src/sidecar/metrics src/sidecar/source src/sidecar/grpc
  src/wiring/limits src/wiring
  src/sidecar
  src/web
  src/local/processes src/local/programs src/local/postgres src/local/redis src/local src/local/admin src/local/demo src/local/packages
  workers
  src
`
  .trim()
  .split(/\s+/)

/** Folders whose files only compute, by their last word: values in, values out. */
const pureFolders = ['kernel', 'model', 'rules', 'document', 'wire']

export const isPure = (room: string): boolean => pureFolders.includes(room.split('/').at(-1)!)

/** Where the file's room stands in the list; a folder without a line of its own is part of the one around it. -1: it has none. */
export function rankOf(file: string): number {
  let room = dirname(file)
  while (room !== '.' && !rooms.includes(room)) room = dirname(room)
  return rooms.indexOf(room)
}
