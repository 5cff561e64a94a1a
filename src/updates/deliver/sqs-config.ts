import type { SqsAccess } from '../../platform/cloud/sqs-sender.js'
import { type Config, type ConfigSpec, secret, str, urlOf } from '../../platform/config.js'

/** As whom changes are sent to queues of SQS, by the names that their consumer has for it. */
export const sqsVariables = {
  CLOUD_REGION: str({ default: undefined, desc: 'Region of the queues of SQS that persistent caches are told through' }),
  CLOUD_ACCESS_KEY_ID: str({ default: undefined, desc: 'Who sends to queues of SQS' }),
  CLOUD_SECRET_ACCESS_KEY: secret({ default: undefined, desc: 'Secret of who sends to queues of SQS' }),
  AWS_ENDPOINT_URL_SQS: urlOf('https', 'http')({ default: undefined, desc: 'Where SQS is called instead of at the address of a queue' }),
} as const satisfies ConfigSpec

type SqsConfig = Config<typeof sqsVariables>

export function sqsAccessProblems({ CLOUD_REGION, CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY }: SqsConfig): string[] {
  const given = [CLOUD_REGION, CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY].filter((one) => one !== undefined).length
  return given === 0 || given === 3
    ? []
    : ['CLOUD_REGION, CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY are set in part: set all or none']
}

/** Null: it sends to none. */
export function sqsAccess(config: SqsConfig): SqsAccess | null {
  const { CLOUD_REGION: region, CLOUD_ACCESS_KEY_ID: accessKeyId, CLOUD_SECRET_ACCESS_KEY: secretAccessKey } = config
  if (region === undefined || accessKeyId === undefined || secretAccessKey === undefined) return null
  return { region, accessKeyId, secretAccessKey, endpoint: config.AWS_ENDPOINT_URL_SQS?.reveal() }
}
