/**
 * The messages of `proto/service/sidecar/v1/sidecar.proto` as they arrive here: fields with presence are undefined when they were
 * not sent, all others are there with their zero; enums are numbers.
 */

export interface Timestamp {
  seconds: number
  nanos: number
}

export interface OwnerRequest {
  customer_id: string
  resource_id?: string
}

export interface FallbackMessage {
  has_access: boolean
  value?: number
  is_unlimited?: boolean
  usage_limit?: number
  enum_values?: string[]
}

/** Any of the Get… messages. */
export interface QuestionRequest extends OwnerRequest {
  consistency?: number
  max_staleness_ms?: number
}

/** Any of the Get…EntitlementRequest messages: each has the options that make sense for its type. */
export interface CheckRequest extends QuestionRequest {
  feature_id: string
  options?: {
    fallback?: FallbackMessage
    requested_usage?: number
    requested_values?: string[]
  }
}

export interface DimensionMessage {
  string_value?: string
  number_value?: number
  boolean_value?: boolean
}

export interface ReportUsageRequest extends OwnerRequest {
  feature_id: string
  value: number
  update_behavior?: number
  dimensions: Record<string, DimensionMessage>
  timestamp?: Timestamp
  idempotency_key?: string
}

export interface ReportUsageBulkRequest {
  usages: ReportUsageRequest[]
}

export interface EventMessage extends OwnerRequest {
  event_name: string
  idempotency_key: string
  dimensions: Record<string, DimensionMessage>
  timestamp?: Timestamp
}

export interface ReportEventsRequest {
  events: EventMessage[]
}
