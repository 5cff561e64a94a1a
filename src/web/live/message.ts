import { type Message, MessageType, parseMessage } from 'graphql-ws'
import { jsonLength } from '../../kernel/weight.js'
import { readContext } from '../../platform/context/tracing.js'
import { type ConnectionParams, payloadCredentials } from './listener.js'

/** Of an id that a client chooses: those of libraries have up to 36. */
export const maxIdCharacters = 128
/** Of what a client wants back with the answer to its ping. */
export const maxPingCharacters = 1_000

/**
 * What a client says, or why it is refused. Only what is read of it: graphql-ws holds what a socket, and each subscription, began with as long as they last,
 * so the credentials stand beside the message. A ping with a long payload is answered without it.
 */
export function readMessage(text: string): { message: Message; credentials?: ConnectionParams } | { refusal: string } {
  let message: Message
  try {
    message = parseMessage(text)
  } catch {
    return { refusal: 'Invalid message received' }
  }
  switch (message.type) {
    case MessageType.ConnectionInit:
      return { message: { type: message.type }, credentials: payloadCredentials(message.payload) }
    case MessageType.Ping:
      return { message: jsonLength(message.payload, maxPingCharacters) > maxPingCharacters ? { type: message.type } : message }
    case MessageType.Subscribe: {
      const { id, type, payload } = message
      if (id.length > maxIdCharacters) return { refusal: `The id of a subscription has at most ${maxIdCharacters} characters` }
      const { query, operationName, variables, extensions } = payload
      return { message: { id, type, payload: { query, operationName, variables, extensions: { ...readContext(extensions) } } } }
    }
    default:
      return { message }
  }
}
