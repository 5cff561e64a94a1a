/** The two doors as a host application uses them: GraphQL over HTTP and the sidecar over gRPC. A call fails when its deadline passes. */
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { sidecarPackage } from '../../sidecar/grpc/proto.js'

const defaultDeadlineMs = 10_000

export class GraphqlClient {
  constructor(
    readonly url: string,
    readonly apiKey: string,
  ) {}

  /** The `data` of the answer. Fails with the first error's code and message, as in "Timeout: …". */
  async call<T>(query: string, variables: Record<string, unknown> = {}, deadlineMs = defaultDeadlineMs): Promise<T> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': this.apiKey },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(deadlineMs),
    })
    const { data, errors } = (await response.json()) as { data?: T; errors?: { message: string; extensions?: { code?: string } }[] }
    const [error] = errors ?? []
    if (error) throw new Error(`${error.extensions?.code ?? 'error'}: ${error.message}`)
    return data as T
  }
}

type Unary = (request: object, options: { deadline: number }, callback: (error: Error | null, answer: never) => void) => void

/** Field names are those of the .proto; enums are numbers. */
export class SidecarClient {
  readonly #client: Record<string, Unary> & { close(): void }

  constructor(address: string) {
    const { service } = loadPackageDefinition(sidecarPackage) as never as {
      service: {
        sidecar: { v1: { SidecarService: new (address: string, credentials: object) => Record<string, Unary> & { close(): void } } }
      }
    }
    this.#client = new service.sidecar.v1.SidecarService(address, credentials.createInsecure())
  }

  call<T>(method: string, request: object, deadlineMs = defaultDeadlineMs): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#client[method]!.call(this.#client, request, { deadline: Date.now() + deadlineMs }, (error, answer) =>
        error ? reject(error) : resolve(answer as T),
      )
    })
  }

  close(): void {
    this.#client.close()
  }
}
