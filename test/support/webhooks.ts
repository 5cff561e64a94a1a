import { Secret } from '../../src/kernel/secret.js'
import { Sealing } from '../../src/notifications/webhooks/secrets.js'

/** SECRETS_KEY of processes in tests. */
export const testSecretsKey = Buffer.alloc(32, 'tests').toString('base64')

/** What an app in a test manages endpoints with: they may be on this machine. */
export const testWebhooks = { sealing: new Sealing(new Secret(testSecretsKey)), targets: 'loopback too' } as const
