import type { Attacker } from './attacker/attacker.js'

/** What an attacker knows: addresses of the servers, and what a caller of its own environment has been given. */
export interface Target {
  /** Of the web process, `http://host:port`. */
  webUrl: string
  /** Of the sidecar, `http://host:port`. */
  sidecarUrl: string
  /** Of the attacker's own environment, as all that follows but the operator key. */
  serverKey: string
  clientKey: string
  /** Names `customerId`. */
  customerToken: string
  customerId: string
  featureId: string
  /** What the browser of an operator sends along, whatever page made it send: an attacker does not see it. */
  operatorKey: string
}

export interface Attack {
  name: string
  /** One line: who does what. */
  about: string
  /** Whose loop and memory are looked at, and whom the other calls. Default: the web process. */
  against?: 'sidecar'
  /** Whoever lets one of its calls through has a hole: none of them may do what it asks. */
  mustBeRefused?: boolean
  /** Attacks until `attacker.signal`, or until all of it has been tried. */
  run(attacker: Attacker): Promise<void>
}
