import { integer, positive } from '../../platform/config.js'

/** What the doors and the workers of ingestion must agree on. */
export const shardVariables = {
  INGESTION_SHARDS: positive({
    default: 2,
    desc: 'Queues that usage is spread over by customer; the same for web and usage-ingestion. To change it: workers first when it grows, web first when it shrinks',
  }),
}

/** Also of doors outside the platform, which have no variable for it. */
export const defaultMaxWaitingJobs = 2_000

/** When the door refuses usage because too much of it waits. */
export const backlogVariables = {
  INGESTION_MAX_WAITING_JOBS: positive({
    default: defaultMaxWaitingJobs,
    desc: 'Usage is refused, retryably, while more jobs wait in a queue of ingestion; events of an environment, while more of its batches wait to be counted',
  }),
  INGESTION_MAX_REDIS_MB: integer({
    default: undefined,
    desc: 'Usage is refused, retryably, while Redis uses more memory than so many megabytes; 80 % of its maxmemory unless given',
  }),
}
