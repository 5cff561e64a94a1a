import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type ClientOptions, createClient, type TollgateClient } from '../../../../src/sdk/server/index.js'
import { packageRoot } from '../../../../src/web/pages/package-files.js'
import { until } from '../../../contract/grpc/harness.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../web/whole-platform.js'

/** A real platform with the example catalog, and clients of it that are closed with it. */
export interface SdkPlatform {
  platform: WholePlatform
  environment: TestEnvironment
  /** Resolves when changes are pushed, unless the options say that none are. */
  client(options?: Partial<ClientOptions>): Promise<TollgateClient>
  mutate(mutation: string): Promise<void>
  /** A new customer on the plan. */
  provision(customerId: string, planId?: string): Promise<void>
  closeClients(): Promise<void>
  close(): Promise<Error[]>
}

export async function openSdkPlatform(): Promise<SdkPlatform> {
  const platform = await openWholePlatform()
  const catalog: unknown = parse(readFileSync(join(packageRoot, 'src/local/example-catalog.yaml'), 'utf8'))
  const environment = await platform.createEnvironment('sdk', catalog)
  const clients: TollgateClient[] = []
  const mutate = async (mutation: string) => {
    const { errors } = await environment.ask(`mutation { ${mutation} }`)
    if (errors) throw new Error(JSON.stringify(errors))
  }
  const closeClients = async () => {
    for (const client of clients.splice(0)) await client.close()
  }
  return {
    platform,
    environment,
    mutate,
    closeClients,
    async client(options = {}) {
      const client = await createClient({ apiKey: environment.serverKey, apiUrl: platform.url, timeoutMs: 10_000, ...options })
      clients.push(client)
      const isPushed = options.wsEnabled !== false && options.offline !== true && options.redis === undefined
      if (isPushed) await until(() => client.figures().isRealTime, 'changes are pushed', 10_000)
      return client
    },
    async provision(customerId, planId) {
      await mutate(`provisionCustomer(input: { customerId: "${customerId}" }) { customer { id } }`)
      if (planId)
        await mutate(`provisionSubscriptionV2(input: { customerId: "${customerId}", planId: "${planId}", billingPeriod: MONTHLY }) { id }`)
    },
    async close() {
      await closeClients()
      return platform.close()
    },
  }
}
