// Made by `npm run sdk-types` from `documents.ts` and the schema: a test compares.

import type {
  CouponSortFields,
  CouponSource,
  CouponStatus,
  CouponType,
  Currency,
  DateTime,
  Json,
  SortDirection,
  SortNulls,
} from './enums.js'

export interface CouponFilter {
  and?: readonly CouponFilter[] | null
  billingId?: StringFieldComparison | null
  createdAt?: DateFieldComparison | null
  customers?: CouponFilterCustomerFilter | null
  description?: StringFieldComparison | null
  environmentId?: UUIDFilterComparison | null
  id?: UUIDFilterComparison | null
  name?: StringFieldComparison | null
  or?: readonly CouponFilter[] | null
  refId?: StringFieldComparison | null
  source?: CouponSourceFilterComparison | null
  status?: CouponStatusFilterComparison | null
  type?: CouponTypeFilterComparison | null
  updatedAt?: DateFieldComparison | null
}

export interface StringFieldComparison {
  eq?: string | null
  gt?: string | null
  gte?: string | null
  iLike?: string | null
  in?: readonly string[] | null
  is?: boolean | null
  isNot?: boolean | null
  like?: string | null
  lt?: string | null
  lte?: string | null
  neq?: string | null
  notILike?: string | null
  notIn?: readonly string[] | null
  notLike?: string | null
}

export interface DateFieldComparison {
  between?: DateFieldComparisonBetween | null
  eq?: string | Date | null
  gt?: string | Date | null
  gte?: string | Date | null
  in?: readonly (string | Date)[] | null
  is?: boolean | null
  isNot?: boolean | null
  lt?: string | Date | null
  lte?: string | Date | null
  neq?: string | Date | null
  notBetween?: DateFieldComparisonBetween | null
  notIn?: readonly (string | Date)[] | null
}

export interface DateFieldComparisonBetween {
  lower: string | Date
  upper: string | Date
}

export interface CouponFilterCustomerFilter {
  and?: readonly CouponFilterCustomerFilter[] | null
  awsMarketplaceCustomerId?: StringFieldComparison | null
  billingId?: StringFieldComparison | null
  createdAt?: DateFieldComparison | null
  crmHubspotCompanyId?: StringFieldComparison | null
  crmHubspotCompanyUrl?: StringFieldComparison | null
  crmId?: StringFieldComparison | null
  customerId?: StringFieldComparison | null
  deletedAt?: DateFieldComparison | null
  email?: StringFieldComparison | null
  environmentId?: UUIDFilterComparison | null
  id?: UUIDFilterComparison | null
  name?: StringFieldComparison | null
  or?: readonly CouponFilterCustomerFilter[] | null
  refId?: StringFieldComparison | null
  salesforceId?: StringFieldComparison | null
  searchQuery?: CustomerSearchQueryFilterComparison | null
  updatedAt?: DateFieldComparison | null
}

export interface UUIDFilterComparison {
  eq?: string | null
  gt?: string | null
  gte?: string | null
  iLike?: string | null
  in?: readonly string[] | null
  is?: boolean | null
  isNot?: boolean | null
  like?: string | null
  lt?: string | null
  lte?: string | null
  neq?: string | null
  notILike?: string | null
  notIn?: readonly string[] | null
  notLike?: string | null
}

export interface CustomerSearchQueryFilterComparison {
  iLike?: string | null
}

export interface CouponSourceFilterComparison {
  eq?: CouponSource | null
  in?: readonly CouponSource[] | null
}

export interface CouponStatusFilterComparison {
  eq?: CouponStatus | null
  gt?: CouponStatus | null
  gte?: CouponStatus | null
  iLike?: CouponStatus | null
  in?: readonly CouponStatus[] | null
  is?: boolean | null
  isNot?: boolean | null
  like?: CouponStatus | null
  lt?: CouponStatus | null
  lte?: CouponStatus | null
  neq?: CouponStatus | null
  notILike?: CouponStatus | null
  notIn?: readonly CouponStatus[] | null
  notLike?: CouponStatus | null
}

export interface CouponTypeFilterComparison {
  eq?: CouponType | null
  gt?: CouponType | null
  gte?: CouponType | null
  iLike?: CouponType | null
  in?: readonly CouponType[] | null
  is?: boolean | null
  isNot?: boolean | null
  like?: CouponType | null
  lt?: CouponType | null
  lte?: CouponType | null
  neq?: CouponType | null
  notILike?: CouponType | null
  notIn?: readonly CouponType[] | null
  notLike?: CouponType | null
}

export interface CursorPaging {
  after?: string | null
  before?: string | null
  first?: number | null
  last?: number | null
}

export interface CouponSort {
  direction: SortDirection
  field: CouponSortFields
  nulls?: SortNulls | null
}

export interface CouponFields {
  id: string
  refId: string
  name: string
  description: string | null
  type: CouponType
  discountValue: number
  percentOff: number | null
  amountsOff:
    | {
        amount: number
        currency: Currency
      }[]
    | null
  durationInMonths: number | null
  status: CouponStatus
  additionalMetaData: Json | null
  billingId: string | null
  billingLinkUrl: string | null
  createdAt: DateTime
  updatedAt: DateTime
}

export type GetCouponsAnswer = {
  totalCount: number
  pageInfo: {
    startCursor: string | null
    endCursor: string | null
    hasNextPage: boolean | null
    hasPreviousPage: boolean | null
  }
  edges:
    | {
        cursor: string
        node: CouponFields
      }[]
    | null
}

export interface GetCouponsVariables {
  filter?: CouponFilter | null
  paging?: CursorPaging | null
  sorting?: readonly CouponSort[] | null
}
