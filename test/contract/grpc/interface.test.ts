import { Client, credentials } from '@grpc/grpc-js'
import type { EnumTypeDefinition, MessageTypeDefinition, ServiceDefinition } from '@grpc/proto-loader'
import { loadSync } from '@grpc/proto-loader'
import { expect } from 'chai'
import { protoPath } from 'grpc-health-check'
import { serviceName, sidecarPackage } from '../../../src/sidecar/grpc/proto.js'
import { reflectedPackage } from '../../../src/sidecar/grpc/reflection.js'
import { FakeApi } from './fake-api.js'
import { type Answer, type RunningSidecar, runSidecar, until } from './harness.js'

/** Deployed clients compile these numbers: they never change. `?`: presence is tracked. `*`: repeated. */
const messages: Record<string, string> = {
  EntitlementFeature:
    'id string 1, feature_type FeatureType 2, units string? 3, units_plural string? 4, meter_type MeterType 5, is_metered bool 6',
  BooleanEntitlement: 'feature EntitlementFeature? 4',
  NumericEntitlement: 'feature EntitlementFeature? 4, value int32? 5, is_unlimited bool 6',
  MeteredEntitlement:
    'feature EntitlementFeature? 4, usage_limit double? 5, is_unlimited bool 6, current_usage double 7, reset_period EntitlementResetPeriod? 9, next_reset_date Timestamp? 10, usage_period_anchor Timestamp? 11, usage_period_start Timestamp? 12, usage_period_end Timestamp? 13, has_soft_limit bool 14',
  EnumEntitlement: 'feature EntitlementFeature? 4, enum_values string* 5',
  Entitlement: 'boolean BooleanEntitlement 1, numeric NumericEntitlement 2, metered MeteredEntitlement 3, enum EnumEntitlement 4',
  BooleanEntitlementFallback: 'has_access bool 1',
  NumericEntitlementFallback: 'has_access bool 1, value int32? 2, is_unlimited bool? 3',
  MeteredEntitlementFallback: 'has_access bool 1, usage_limit double? 2, is_unlimited bool? 3',
  EnumEntitlementFallback: 'has_access bool 1, enum_values string* 2',
  BooleanEntitlementOptions: 'fallback BooleanEntitlementFallback? 1',
  NumericEntitlementOptions: 'fallback NumericEntitlementFallback? 1',
  MeteredEntitlementOptions: 'requested_usage double? 1, fallback MeteredEntitlementFallback? 2',
  EnumEntitlementOptions: 'requested_values string* 1, fallback EnumEntitlementFallback? 2',
  EntitlementFallback:
    'boolean BooleanEntitlementFallback 1, numeric NumericEntitlementFallback 2, metered MeteredEntitlementFallback 3, enum EnumEntitlementFallback 4',
  RedisOptions:
    'environment_prefix string 1, host string? 2, port int32? 3, db int32? 4, username string? 5, password string? 6, ttl int32? 7',
  ApiConfig: 'api_key string 1, api_url string? 2, edge_enabled bool? 3, edge_api_url string? 4',
  LocalSidecarConfig:
    'ws_enabled bool? 5, ws_url string? 6, redis RedisOptions? 7, entitlements_fallback EntitlementsFallbackEntry* 8, cache_max_size_bytes int64? 9',
  EventDimensionValue: 'string_value string 1, number_value double 2, boolean_value bool 3',
  Event:
    'event_name string 1, customer_id string 2, idempotency_key string 3, resource_id string? 4, dimensions DimensionsEntry* 5, timestamp Timestamp? 6',
  GetEntitlementsRequest: 'customer_id string 1, resource_id string? 2, consistency Consistency? 100, max_staleness_ms int64? 101',
  GetEntitlementsResponse: 'entitlements Entitlement* 1, access_denied_reason AccessDeniedReason? 2',
  GetEntitlementRequest:
    'customer_id string 1, feature_id string 2, resource_id string? 3, options EntitlementOptions? 4, consistency Consistency? 100, max_staleness_ms int64? 101',
  GetEntitlementResponse:
    'has_access bool 1, is_fallback bool 2, access_denied_reason AccessDeniedReason? 3, boolean BooleanEntitlement 4, numeric NumericEntitlement 5, metered MeteredEntitlement 6, enum EnumEntitlement 7',
  EntitlementOptions: 'fallback EntitlementOptionsFallback? 1, requested_usage double? 2, requested_values string* 3',
  EntitlementOptionsFallback: 'has_access bool 1, value int32? 2, is_unlimited bool? 3, usage_limit double? 4, enum_values string* 5',
  GetBooleanEntitlementRequest:
    'customer_id string 1, feature_id string 2, resource_id string? 3, options BooleanEntitlementOptions? 4, consistency Consistency? 100, max_staleness_ms int64? 101',
  GetBooleanEntitlementResponse:
    'has_access bool 1, is_fallback bool 2, access_denied_reason AccessDeniedReason? 3, entitlement BooleanEntitlement 4',
  GetNumericEntitlementRequest:
    'customer_id string 1, feature_id string 2, resource_id string? 3, options NumericEntitlementOptions? 4, consistency Consistency? 100, max_staleness_ms int64? 101',
  GetNumericEntitlementResponse:
    'has_access bool 1, is_fallback bool 2, access_denied_reason AccessDeniedReason? 3, entitlement NumericEntitlement 4',
  GetMeteredEntitlementRequest:
    'customer_id string 1, feature_id string 2, resource_id string? 3, options MeteredEntitlementOptions? 4, consistency Consistency? 100, max_staleness_ms int64? 101',
  GetMeteredEntitlementResponse:
    'has_access bool 1, is_fallback bool 2, access_denied_reason AccessDeniedReason? 3, requested_usage double 4, entitlement MeteredEntitlement 5',
  GetEnumEntitlementRequest:
    'customer_id string 1, feature_id string 2, resource_id string? 3, options EnumEntitlementOptions? 4, consistency Consistency? 100, max_staleness_ms int64? 101',
  GetEnumEntitlementResponse:
    'has_access bool 1, is_fallback bool 2, access_denied_reason AccessDeniedReason? 3, requested_values string* 4, entitlement EnumEntitlement 5',
  ReportUsageRequest:
    'customer_id string 1, resource_id string? 2, feature_id string 3, value double 4, update_behavior UsageUpdateBehavior? 5, dimensions DimensionsEntry* 6, timestamp Timestamp? 7, idempotency_key string? 100',
  ReportUsageResponse:
    'measurement_id string 1, customer_id string 2, resource_id string? 3, feature_id string 4, current_usage double? 5, usage_period_start Timestamp? 6, usage_period_end Timestamp? 7',
  ReportUsageBulkRequest: 'usages ReportUsageRequest* 1',
  ReportUsageBulkResponse: 'usages ReportUsageResponse* 1',
  ReportEventsRequest: 'events Event* 1',
  ReportEventsResponse: '',
  ReloadEntitlementsRequest: 'customer_id string 1, resource_id string? 2',
  ReloadEntitlementsResponse: 'entitled_entity_exists bool 1',
}

/** Values in the order of their numbers, without the common prefix. */
const enums: Record<string, string> = {
  AccessDeniedReason:
    'UNSPECIFIED UNKNOWN CUSTOMER_IS_ARCHIVED CUSTOMER_NOT_FOUND CUSTOMER_RESOURCE_NOT_FOUND FEATURE_NOT_FOUND NO_ACTIVE_SUBSCRIPTION NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION REQUESTED_USAGE_EXCEEDING_LIMIT BUDGET_EXCEEDED REQUESTED_VALUES_MISMATCH FEATURE_TYPE_MISMATCH INSUFFICIENT_CREDITS REVOKED ENTITLEMENT_NOT_FOUND',
  FeatureType: 'UNSPECIFIED BOOLEAN NUMBER ENUM',
  MeterType: 'UNSPECIFIED NONE FLUCTUATING INCREMENTAL',
  Consistency: 'UNSPECIFIED CACHED STRONG',
  EntitlementResetPeriod: 'UNSPECIFIED DAY HOUR MONTH WEEK YEAR',
  UsageUpdateBehavior: 'UNSPECIFIED DELTA SET',
}

const methods = [
  'GetEntitlements',
  'GetEntitlement',
  'GetBooleanEntitlement',
  'GetNumericEntitlement',
  'GetMeteredEntitlement',
  'GetEnumEntitlement',
  'ReportUsage',
  'ReportUsageBulk',
  'ReportEvents',
  'ReloadEntitlements',
]

describe('sidecar interface', () => {
  for (const [name, fields] of Object.entries(messages)) {
    it(`keeps the fields of ${name}`, () => expect(fieldsOf(name)).to.equal(fields))
  }
  for (const [name, values] of Object.entries(enums)) {
    it(`keeps the values of ${name}`, () => {
      const { value } = (sidecarPackage[`service.sidecar.v1.${name}`] as EnumTypeDefinition).type as {
        value: { name: string; number: number }[]
      }
      const prefix = `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}_`
      expect(value.map((v) => v.number)).to.deep.equal(value.map((_, index) => index))
      expect(value.map((v) => v.name)).to.deep.equal(values.split(' ').map((v) => prefix + v))
    })
  }
  it('has no further messages, enums or methods that nothing checks', () => {
    const names = Object.keys(sidecarPackage).filter((name) => name.startsWith('service.') && name !== serviceName)
    const known = [...Object.keys(messages), ...Object.keys(enums)].map((name) => `service.sidecar.v1.${name}`)
    expect(names).to.have.members(known)
    expect(Object.keys(sidecarPackage[serviceName] as ServiceDefinition)).to.have.members(methods)
  })
})

describe('sidecar methods', () => {
  for (const method of methods) {
    it(`keeps the request and the response of ${method}`, () => {
      const { path, requestStream, responseStream, requestType, responseType } = (sidecarPackage[serviceName] as ServiceDefinition)[method]!
      const nameOf = (type: typeof requestType) => (type as MessageTypeDefinition<object, object> & { type: { name: string } }).type.name
      expect({ path, requestStream, responseStream, request: nameOf(requestType), response: nameOf(responseType) }).to.deep.equal({
        path: `/service.sidecar.v1.SidecarService/${method}`,
        requestStream: false,
        responseStream: false,
        request: `${method}Request`,
        response: `${method}Response`,
      })
    })
  }
})

interface Field {
  name: string
  number: number
  type: string
  typeName?: string
  label: string
  proto3Optional?: boolean
}

/** What reflection tells about a message: the same as a compiler reads from the .proto file. */
function fieldsOf(message: string): string {
  const descriptor = reflectedMessages().get(message)
  if (!descriptor) return 'no such message'
  return (descriptor.field ?? [])
    .map(({ name, number, type, typeName, label, proto3Optional }) => {
      const shortType = typeName ? typeName.split('.').at(-1) : type.replace('TYPE_', '').toLowerCase()
      return `${name} ${shortType}${proto3Optional ? '?' : ''}${label === 'LABEL_REPEATED' ? '*' : ''} ${number}`
    })
    .join(', ')
}

function reflectedMessages(): Map<string, { name: string; field?: Field[] }> {
  const codec = loadSync('google/protobuf/descriptor.proto', { enums: String })[
    'google.protobuf.FileDescriptorProto'
  ] as MessageTypeDefinition<object, object>
  const [definition] = Object.values(reflectedPackage()) as MessageTypeDefinition<object, object>[]
  const files = definition!.fileDescriptorProtos.map(
    (bytes) => codec.deserialize(bytes) as { package: string; messageType: { name: string; field?: Field[] }[] },
  )
  const { messageType } = files.find((file) => file.package === 'service.sidecar.v1')!
  return new Map(messageType.map((message) => [message.name, message]))
}

describe('sidecar server', () => {
  let api: FakeApi
  let sidecar: RunningSidecar
  let client: Client

  before(async () => {
    api = await FakeApi.start()
    sidecar = await runSidecar({
      SERVER_API_KEY: api.acceptedKey,
      API_URL: api.url,
      HEALTH_ENDPOINT_URL: '/alive',
      READY_ENDPOINT_URL: 'is/ready',
    })
    client = new Client(`127.0.0.1:${sidecar.grpcPort}`, credentials.createInsecure())
  })
  after(async () => {
    client.close()
    await sidecar.stop()
    await api.stop()
  })

  it('answers grpc.health.v1 for the server and for the service', async () => {
    const { Check } = loadSync(protoPath, { keepCase: true, enums: String })['grpc.health.v1.Health'] as ServiceDefinition
    for (const service of ['', serviceName]) {
      const answer = await new Promise<object>((resolve, reject) => {
        client.makeUnaryRequest(Check!.path, Check!.requestSerialize, Check!.responseDeserialize, { service }, (error, value) =>
          error ? reject(error) : resolve(value!),
        )
      })
      expect(answer).to.deep.equal({ status: 'SERVING' })
    }
  })

  it('lists its services by reflection', async () => {
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
    // ServerReflectionRequest.list_services is field 7; the answer contains the names as text.
    const stream = client.makeBidiStreamRequest<Buffer, Buffer>(
      path,
      (bytes) => bytes,
      (bytes) => bytes,
    )
    const answer = new Promise<string>((resolve, reject) => {
      stream.on('data', (bytes: Buffer) => resolve(bytes.toString('latin1')))
      stream.on('error', reject)
    })
    stream.write(Buffer.from([0x3a, 0x00]))
    expect(await answer).to.include(serviceName)
    stream.end()
  })

  it('describes its messages by reflection, those it imports included', async () => {
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
    const stream = client.makeBidiStreamRequest<Buffer, Buffer>(
      path,
      (bytes) => bytes,
      (bytes) => bytes,
    )
    const answer = new Promise<string>((resolve, reject) => {
      stream.on('data', (bytes: Buffer) => resolve(bytes.toString('latin1')))
      stream.on('error', reject)
    })
    // file_containing_symbol is field 4.
    stream.write(Buffer.concat([Buffer.from([0x22, serviceName.length]), Buffer.from(serviceName)]))
    const text = await answer
    expect(text).to.include('GetMeteredEntitlementRequest')
    expect(text).to.include('google/protobuf/timestamp.proto')
    stream.end()
  })

  it('serves health and metrics over HTTP at the configured paths', async () => {
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${sidecar.httpPort}${path}`)
      return { status: response.status, text: await response.text() }
    }
    expect(await get('/alive')).to.deep.equal({ status: 200, text: '{"status":"UP"}' })
    expect(JSON.parse((await get('/is/ready')).text)).to.include({ status: 'UP' })
    expect((await get('/livez')).status).to.equal(404)
    await sidecar.call('GetEntitlements', { customer_id: 'c' })
    await sidecar.call('GetEntitlements', { customer_id: 'c' })
    await until(async () => (await sidecar.metric('sidecar_cache_lookups_total', 'outcome="miss"')) === 1, 'the miss is counted')
    expect(await sidecar.metric('sidecar_cache_lookups_total', 'outcome="hit"')).to.be.at.least(0)
    expect(await sidecar.metric('sidecar_cache_entries')).to.equal(1)
    expect(await sidecar.metric('sidecar_api_request_seconds_count')).to.equal(1)
  })

  it('lets calls in flight finish when it is stopped', async () => {
    const other = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE' })
    let open: () => void = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    const asked = api.operations.length
    const call: Promise<Answer> = other.call('GetBooleanEntitlement', { customer_id: 'late', feature_id: 'f' })
    await until(() => api.operations.length > asked, 'the call is under way')
    const stopped = other.stop()
    open()
    expect((await call).access_denied_reason).to.equal(3)
    await stopped
  })
})
