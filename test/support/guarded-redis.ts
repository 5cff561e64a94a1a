import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import type { RedisOptions } from 'ioredis'
import { makeCertificate } from './certificates.js'

/** What @types/node of the oldest Node that is supported does not know; tests run on a newer one. */
const { getCACertificates, setDefaultCACertificates } = tls as unknown as {
  getCACertificates(type: 'default'): string[]
  setDefaultCACertificates(certificates: string[]): void
}

/**
 * What keeps strangers from servers of a test: they are encrypted, with a certificate of an authority that nobody knows, have one user, and let nobody in without
 * a password. Sentinels have a password of their own.
 */
export class Guard {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-guard-'))
  readonly user = 'tollgate'
  /** With what has to be encoded in a URL. */
  readonly password = 'of/redis:p@ss?word#1'
  readonly sentinelPassword = 'of/sentinels:p@ss?&=1'
  #trustedBefore: string[] | undefined

  /** Makes the certificates. */
  async prepare(): Promise<void> {
    chmodSync(this.#folder, 0o700)
    await makeCertificate(this.#folder, 'ca')
    await makeCertificate(this.#folder, 'server', 'ca')
  }

  /** That of the authority. */
  get certificateFile(): string {
    return join(this.#folder, 'ca.pem')
  }

  /** Has this process know the authority from now on, as NODE_EXTRA_CA_CERTS does for one that starts. */
  trust(): void {
    this.#trustedBefore = getCACertificates('default')
    setDefaultCACertificates([...this.#trustedBefore, readFileSync(this.certificateFile, 'utf8')])
  }

  close(): void {
    if (this.#trustedBefore) setDefaultCACertificates(this.#trustedBefore)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Of a server: its only port is encrypted. */
  encrypted(port: number): Record<string, string> {
    const [certificate, key] = ['pem', 'key'].map((ending) => join(this.#folder, `server.${ending}`))
    return {
      port: '0',
      'tls-port': String(port),
      'tls-cert-file': certificate!,
      'tls-key-file': key!,
      'tls-ca-cert-file': this.certificateFile,
      'tls-auth-clients': 'no',
      'tls-replication': 'yes',
    }
  }

  /** Of a server that has data: who may use it, and as whom it uses others. */
  closed(): Record<string, string> {
    return {
      'user#1': 'default off',
      'user#2': `${this.user} on >${this.password} ~* &* +@all`,
      masteruser: this.user,
      masterauth: quoted(this.password),
    }
  }

  /** Of a sentinel: who may ask it, as whom it asks the others, and as whom it is at the servers. */
  closedSentinel(name: string): Record<string, string> {
    return {
      requirepass: quoted(this.sentinelPassword),
      'sentinel#auth-1': `sentinel-pass ${quoted(this.sentinelPassword)}`,
      'sentinel#auth-2': `auth-user ${name} ${this.user}`,
      'sentinel#auth-3': `auth-pass ${name} ${quoted(this.password)}`,
    }
  }

  /** For a client of a test. */
  clientOptions(mode: 'redis' | 'sentinel'): RedisOptions {
    const access = mode === 'redis' ? { username: this.user, password: this.password } : { password: this.sentinelPassword }
    return { ...access, tls: { ca: readFileSync(this.certificateFile) } }
  }
}

const quoted = (text: string) => `"${text}"`
