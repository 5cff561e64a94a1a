import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { experimental, ServerCredentials } from '@grpc/grpc-js'
import { StartError } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import { every } from '../../platform/timer.js'

interface TlsFiles {
  cert: string
  key: string
  /** Who signs the certificates that clients must show; null: clients show none. */
  clientCa: string | null
}

/** Certificates are renewed days before they expire. */
const defaultReloadMs = 10_000

/**
 * Credentials from files, read again when they change: new connections get the renewed certificate, those that are open stay. Files that are missing
 * or do not belong together (half of a renewal) leave the last good ones in use.
 * @throws StartError when the files can't be used now
 */
export async function tlsCredentials(life: Life, files: TlsFiles, reloadMs = defaultReloadMs): Promise<ServerCredentials> {
  const provider = new CertificateFiles(files)
  try {
    await provider.reload()
  } catch (error) {
    throw new StartError(
      `the certificate can't be used: ${(error as Error).message} (check TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE)`,
    )
  }
  every(life, 'certificate reload', reloadMs, async () => {
    try {
      if (await provider.reload()) life.log.info('renewed certificate in use')
    } catch (error) {
      life.log.warn({ err: error }, 'certificate files cannot be used, the last good ones stay')
    }
  })
  const hasClientCa = files.clientCa !== null
  return experimental.createCertificateProviderServerCredentials(provider, hasClientCa ? provider : null, hasClientCa)
}

interface Loaded {
  cert: Buffer
  key: Buffer
  ca: Buffer | null
}

class CertificateFiles implements experimental.CertificateProvider {
  readonly #ca = new Set<experimental.CaCertificateUpdateListener>()
  readonly #identity = new Set<experimental.IdentityCertificateUpdateListener>()
  #loaded: Loaded | undefined

  constructor(private readonly files: TlsFiles) {}

  /** Answers whether there was something new. Fails, and keeps what there is, when the files can't be read or do not fit together. */
  async reload(): Promise<boolean> {
    const { cert, key, clientCa } = this.files
    const [certificate, privateKey, ca] = await Promise.all([readFile(cert), readFile(key), clientCa === null ? null : readFile(clientCa)])
    const known = this.#loaded
    if (known?.cert.equals(certificate) && known.key.equals(privateKey) && (ca === null || known.ca?.equals(ca))) return false
    createSecureContext({ cert: certificate, key: privateKey, ...(ca === null ? {} : { ca }) })
    this.#loaded = { cert: certificate, key: privateKey, ca }
    for (const listener of this.#identity) this.#tellIdentity(listener)
    for (const listener of this.#ca) this.#tellCa(listener)
    return known !== undefined
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#ca.add(listener)
    process.nextTick(() => this.#tellCa(listener))
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#ca.delete(listener)
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identity.add(listener)
    process.nextTick(() => this.#tellIdentity(listener))
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identity.delete(listener)
  }

  #tellIdentity(listener: experimental.IdentityCertificateUpdateListener): void {
    if (this.#loaded) listener({ certificate: this.#loaded.cert, privateKey: this.#loaded.key })
  }

  #tellCa(listener: experimental.CaCertificateUpdateListener): void {
    if (this.#loaded?.ca) listener({ caCertificate: this.#loaded.ca })
  }
}
