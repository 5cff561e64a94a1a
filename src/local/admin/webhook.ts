/** `webhook listen`: an endpoint on this machine that prints what it hears. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { Command } from '../../cli/command-line.js'
import { environmentOption } from '../../cli/entries.js'
import { text, UsageError, type Values } from '../../cli/input.js'
import { type AdminContext, findEnvironment } from './context.js'

export const webhookListen: Command<AdminContext> = {
  name: 'webhook listen',
  argument: null,
  summary: 'Makes a webhook endpoint on this machine, prints what it hears, and deletes it when it is stopped (Ctrl-C)',
  options: {
    environment: environmentOption,
    events: { type: 'string', help: 'types of events to hear of, by commas; all unless given' },
    count: { type: 'string', help: 'stops by itself after so many' },
  },
  async run({ environments, webhooks, print, stopped }, values) {
    const service = webhooks()
    const { id: environmentId, refId } = await findEnvironment(environments, values)
    const most = countOf(values)
    const ended = new AbortController()
    let heard = 0
    let signed: Webhook | null = null
    const server = createServer((request, response) => {
      hear(request, response, signed)
        .then((event) => {
          if (!event) return
          print(JSON.stringify(event, null, 2))
          heard += 1
          if (heard >= most) ended.abort()
        })
        .catch(() => response.destroy())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const eventTypes = text(values.events)
        ?.split(',')
        .map((type) => type.trim())
      const { endpoint, secret } = await service.create(environmentId, {
        url,
        description: 'npm run admin -- webhook listen',
        ...(eventTypes && { eventTypes }),
      })
      signed = new Webhook(secret)
      print(`Listening to environment "${refId}" at ${url} – Ctrl-C stops`)
      try {
        await untilAborted(AbortSignal.any([ended.signal, stopped()]))
      } finally {
        await service.delete(environmentId, endpoint.id)
      }
    } finally {
      server.closeAllConnections()
      server.close()
    }
    return { text: `Heard ${heard} events`, json: { heard } }
  },
}

/** What it was, once it has been answered; null: it was not signed with our secret. */
async function hear(request: IncomingMessage, response: ServerResponse, signed: Webhook | null): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    const event = signed!.verify(Buffer.concat(chunks).toString('utf8'), request.headers as Record<string, string>)
    response.writeHead(204).end()
    await once(response, 'close')
    return event
  } catch {
    response.writeHead(400).end()
    return null
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function countOf(values: Values): number {
  const given = text(values.count)
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new UsageError(`--count must be a whole number above 0, not "${given}"`)
  return Number(given)
}
