import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const openssl = (...args: string[]) => promisify(execFile)('openssl', args)

/** Makes `name.pem` and `name.key` for this machine, signed by `ca`, or by itself. */
export async function makeCertificate(folder: string, name: string, ca?: string): Promise<void> {
  const file = (of: string) => join(folder, of)
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const keyPair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file(`${name}.key`)]
  const signer = ca === undefined ? [] : ['-CA', file(`${ca}.pem`), '-CAkey', file(`${ca}.key`)]
  await openssl('req', '-x509', '-days', '2', ...keyPair, '-out', file(`${name}.pem`), ...subject, ...signer)
}
