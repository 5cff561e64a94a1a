import { str } from '../../platform/config.js'
import type { AllowedTargets } from './addresses.js'
import { secretsKeyVariable } from './secrets.js'

const targets: Readonly<Record<string, AllowedTargets>> = { public: 'public', loopback: 'loopback too', any: 'any' }

/** What every process has to know that makes, or sends to, endpoints of webhooks. */
export const webhookVariables = {
  SECRETS_KEY: secretsKeyVariable,
  WEBHOOK_TARGETS: str({
    choices: Object.keys(targets),
    default: 'public',
    desc: 'Where webhooks may go: https:// on the public internet; also this machine, by http:// too; or anywhere by either, to whatever the process reaches',
  }),
}

export const targetsOf = ({ WEBHOOK_TARGETS }: { WEBHOOK_TARGETS: string }): AllowedTargets => targets[WEBHOOK_TARGETS]!
