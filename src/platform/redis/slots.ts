/**
 * What goes together on a Redis Cluster. A cluster keeps each key by its hash tag: what stands in the first braces of it. A script, a transaction or a command
 * of several keys must find all of them under one tag.
 *
 * together  `{tollgate}:…`: what is announced, who hears it, the change streams, and all channels. One master has them, whose order is what reading
 *           one's writes relies upon
 * queue     `{tollgate:usage-ingestion}:usage-ingestion:…`: each queue, and each of its shards, has a tag of its own
 * alone     `tollgate:state:…`: no key is used with another one
 *
 * A prefix without braces says nothing of a cluster, and is left as it is.
 */

const tagged = /^\{([^{}]+)\}$/

/** Of the keys of a queue, for the queue library. */
export const queuePrefix = (prefix: string, queue: string): string => prefix.replace(tagged, `{$1:${queue.replaceAll('$', '$$$$')}}`)

/** Of keys that are each used alone. */
export const loosePrefix = (prefix: string): string => prefix.replace(tagged, '$1')

/** Whether keys with this prefix are in one slot. */
export const isTagged = (prefix: string): boolean => /^\{[^{}]+\}/.test(prefix)
