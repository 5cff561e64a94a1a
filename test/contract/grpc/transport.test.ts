import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import { promisify } from 'node:util'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { loadSync } from '@grpc/proto-loader'
import { expect } from 'chai'
import { protoPath } from 'grpc-health-check'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { serviceName, sidecarPackage } from '../../../src/sidecar/grpc/proto.js'
import { serveGrpc } from '../../../src/sidecar/grpc/server.js'
import { tlsCredentials } from '../../../src/sidecar/grpc/tls.js'
import { makeCertificate } from '../../support/certificates.js'
import { type Answer, type RunningSidecar, runSidecar, until } from './harness.js'

const check = sidecarPackage[serviceName] as ServiceDefinition
const call = (client: Client, path = check.GetBooleanEntitlement!.path): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { requestSerialize, responseDeserialize } = check.GetBooleanEntitlement!
    const request = { customer_id: 'c', feature_id: 'sso' }
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, { deadline: Date.now() + 2_000 }, (error, answer) =>
      error ? reject(error) : resolve(answer as Answer),
    )
  })
const fails = (answer: Promise<unknown>): Promise<ServiceError> =>
  answer.then(
    (value) => Promise.reject(new Error(`expected a refusal, got ${JSON.stringify(value)}`)),
    (error: ServiceError) => error,
  )

describe('sidecar transport', () => {
  let folder: string
  let sidecar: RunningSidecar | undefined
  const clients: Client[] = []
  const offline = { OFFLINE: 'TRUE', ENTITLEMENTS_FALLBACK: '{"sso": {"hasAccess": true}}' }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-tls-'))
    await makeCertificate(folder, 'ca')
    for (const name of ['server', 'renewed', 'client']) await makeCertificate(folder, name, 'ca')
    await makeCertificate(folder, 'stranger')
  })
  after(() => rm(folder, { recursive: true }))
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close()
    await sidecar?.stop()
    sidecar = undefined
  })

  const read = (name: string) => readFile(join(folder, name))
  async function dial(address: string, as?: string): Promise<Client> {
    const [ca, key, cert] = [await read('ca.pem'), as ? await read(`${as}.key`) : null, as ? await read(`${as}.pem`) : null]
    const client = new Client(address, credentials.createSsl(ca, key, cert))
    clients.push(client)
    return client
  }
  function plain(address: string): Client {
    const client = new Client(address, credentials.createInsecure())
    clients.push(client)
    return client
  }

  it('serves the same service under its aliases', async () => {
    sidecar = await runSidecar({ ...offline, GRPC_SERVICE_ALIASES: 'other.sidecar.v1.SidecarService, acme.v2.Entitlements' })
    const client = plain(`127.0.0.1:${sidecar.grpcPort}`)
    for (const name of [serviceName, 'other.sidecar.v1.SidecarService', 'acme.v2.Entitlements'])
      expect((await call(client, `/${name}/GetBooleanEntitlement`)).has_access, name).to.equal(true)
    expect((await fails(call(client, '/nobody.v1.SidecarService/GetBooleanEntitlement'))).code).to.equal(12)
    const { Check } = loadSync(protoPath, { keepCase: true, enums: String })['grpc.health.v1.Health'] as ServiceDefinition
    const health = await new Promise((resolve, reject) =>
      client.makeUnaryRequest(
        Check!.path,
        Check!.requestSerialize,
        Check!.responseDeserialize,
        { service: 'acme.v2.Entitlements' },
        (error, value) => (error ? reject(error) : resolve(value)),
      ),
    )
    expect(health).to.deep.equal({ status: 'SERVING' })
  })

  it('serves on a Unix domain socket besides its port, over one that a killed process left', async () => {
    const path = join(folder, 'sidecar.sock')
    await writeStaleSocket(path)
    sidecar = await runSidecar({ ...offline, UNIX_SOCKET_PATH: path })
    expect((await call(plain(`unix:${path}`))).has_access).to.equal(true)
    expect((await call(plain(`127.0.0.1:${sidecar.grpcPort}`))).has_access).to.equal(true)
  })

  it('closes a connection whose calls are taken back as fast as they are made, and none that takes back what it has open', async () => {
    // `node:http2` before has a bound of its own, which nothing sets.
    const tooMany = Number(process.versions.node.split('.')[0]) < 24 ? 2_000 : 700
    sidecar = await runSidecar(offline)
    const path = check.GetBooleanEntitlement!.path
    const takeBack = async (calls: number) => {
      const session = connect(`http://127.0.0.1:${sidecar!.grpcPort}`)
      const isClosed = new Promise<boolean>((resolve) => session.once('goaway', () => resolve(true)).once('close', () => resolve(true)))
      session.on('error', () => undefined)
      await once(session, 'connect')
      for (let n = 0; n < calls && !session.destroyed; n += 50) {
        const streams = Array.from({ length: 50 }, () =>
          session
            .request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' })
            .on('error', () => undefined),
        )
        // What is taken back before it was sent is not sent.
        await setImmediate()
        for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
      }
      const isAlive = new Promise<boolean>((resolve) => session.ping((error) => error === null && resolve(false)))
      return Promise.race([isClosed, isAlive]).finally(() => session.destroy())
    }
    expect(await takeBack(100)).to.equal(false)
    expect(await takeBack(tooMany)).to.equal(true)
  })

  it('does not take over a socket that another process serves', async () => {
    const path = join(folder, 'taken.sock')
    sidecar = await runSidecar({ ...offline, UNIX_SOCKET_PATH: path })
    const error = await runSidecar({ ...offline, UNIX_SOCKET_PATH: path }).then(
      () => null,
      (problem: Error) => problem,
    )
    expect(error?.message).to.include('another process listens')
    expect((await call(plain(`unix:${path}`))).has_access).to.equal(true)
  })

  it('encrypts its port, and speaks to nobody in the clear', async () => {
    sidecar = await runSidecar({ ...offline, TLS_CERT_FILE: join(folder, 'server.pem'), TLS_KEY_FILE: join(folder, 'server.key') })
    expect((await call(await dial(`localhost:${sidecar.grpcPort}`))).has_access).to.equal(true)
    expect((await fails(call(plain(`127.0.0.1:${sidecar.grpcPort}`)))).code).to.equal(14)
  })

  it('asks clients for a certificate, and takes only those of its authority', async () => {
    sidecar = await runSidecar({
      ...offline,
      TLS_CERT_FILE: join(folder, 'server.pem'),
      TLS_KEY_FILE: join(folder, 'server.key'),
      TLS_CLIENT_CA_FILE: join(folder, 'ca.pem'),
    })
    const address = `localhost:${sidecar.grpcPort}`
    expect((await call(await dial(address, 'client'))).has_access).to.equal(true)
    expect((await fails(call(await dial(address)))).code).to.equal(14)
    expect((await fails(call(await dial(address, 'stranger')))).code).to.equal(14)
  })

  it('says in a sentence which files cannot be used', async () => {
    const problem = await runSidecar({
      ...offline,
      TLS_CERT_FILE: join(folder, 'server.pem'),
      TLS_KEY_FILE: join(folder, 'client.key'),
    }).catch((error: Error) => error)
    expect((problem as Error).message)
      .to.include("the certificate can't be used")
      .and.include('TLS_KEY_FILE')
  })

  it('uses a renewed certificate for new connections, and keeps the last good one while files do not fit', async () => {
    const [cert, key] = [join(folder, 'current.pem'), join(folder, 'current.key')]
    await copyFile(join(folder, 'server.pem'), cert)
    await copyFile(join(folder, 'server.key'), key)
    const life = new Life('sidecar', silentLogger())
    const port = await serveGrpc(life, {
      handlers: {},
      host: '127.0.0.1',
      port: 0,
      credentials: await tlsCredentials(life, { cert, key, clientCa: null }, 20),
      socketPath: null,
      aliases: [],
      readiness: null,
      drainMs: 100,
    })
    try {
      const subject = () =>
        new Promise<string>((resolve, reject) => {
          const socket = tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
            resolve(String(socket.getPeerCertificate().subject.CN))
            socket.destroy()
          })
          socket.on('error', reject)
        })
      expect(await subject()).to.equal('server')
      // Half of a renewal, for a while.
      await copyFile(join(folder, 'renewed.pem'), cert)
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(await subject()).to.equal('server')
      await copyFile(join(folder, 'renewed.key'), key)
      await until(async () => (await subject()) === 'renewed', 'the renewed certificate is in use')
    } finally {
      await life.stop()
    }
  })

  /** Binds the path in a process that is killed: its file stays. */
  async function writeStaleSocket(path: string): Promise<void> {
    const script = join(folder, 'bind.mjs')
    await writeFile(
      script,
      `import { createServer } from 'node:net'\ncreateServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))\n`,
    )
    await promisify(execFile)(process.execPath, [script]).catch(() => undefined)
  }
})
