import { type ClassType, Field, InputType, Int } from 'type-graphql'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

/** What fields of lists are compared with. Many inputs of a few shapes: each shape is made by one function. */

const identity = ['is', 'isNot']
const membership = ['eq', 'in']
const exclusion = ['neq', 'notIn']
const order = ['gt', 'gte', 'lt', 'lte']
const pattern = ['iLike', 'like', 'notILike', 'notLike']
const range = ['between', 'notBetween']
const ofText = [...identity, ...membership, ...exclusion, ...order, ...pattern]
const ofAmount = [...identity, ...membership, ...exclusion, ...order, ...range]

type Type = Parameters<typeof Field>[0]

/** An input type whose name and fields are known when the schema is built, not when it is written. */
export function inputType(name: string, description: string, fields: Readonly<Record<string, Type>>): ClassType {
  const Input = { [name]: class {} }[name]!
  for (const [field, type] of Object.entries(fields)) Field(type, { nullable: true })(Input.prototype, field)
  InputType(name, { description })(Input)
  return Input
}

const types = { String: () => String, DateTime: () => DateTime, Int: () => Int, Boolean: () => Boolean } as const

function comparison(name: string, of: string, type: () => object, operators: readonly string[]): ClassType {
  const between = operators.includes('between') ? betweenInput(`${name}Between`, of, type) : null
  const typeOf = (operator: string): Type => {
    if (identity.includes(operator)) return types.Boolean
    if (range.includes(operator)) return () => between!
    return (operator === 'in' || operator === 'notIn' ? () => [type()] : type) as Type
  }
  return inputType(
    name,
    `What ${of} is compared with: all operators must hold. A row without a value passes is and isNot only.`,
    Object.fromEntries(operators.map((operator) => [operator, typeOf(operator)])),
  )
}

function betweenInput(name: string, of: string, type: () => object): ClassType {
  const Between = { [name]: class {} }[name]!
  for (const end of ['lower', 'upper']) Field(type as Type)(Between.prototype, end)
  InputType(name, { description: `Where ${of} lies: both ends count.` })(Between)
  return Between
}

function enumComparison(name: string, type: object, operators: readonly string[] = ofText): ClassType {
  return comparison(`${name}FilterComparison`, `a ${name}`, () => type, operators)
}

export const BooleanFieldComparison = comparison('BooleanFieldComparison', 'a truth value', types.Boolean, identity)
export const CouponSourceFilterComparison = enumComparison('CouponSource', enums.CouponSource, membership)
export const CouponStatusFilterComparison = enumComparison('CouponStatus', enums.CouponStatus)
export const CouponTypeFilterComparison = enumComparison('CouponType', enums.CouponType)
export const CustomerSearchQueryFilterComparison = comparison(
  'CustomerSearchQueryFilterComparison',
  'name, email and identifier',
  types.String,
  ['iLike'],
)
export const DateFieldComparison = comparison('DateFieldComparison', 'a time', types.DateTime, ofAmount)
export const IntFieldComparison = comparison('IntFieldComparison', 'a whole number', types.Int, ofAmount)
export const PackageStatusFilterComparison = enumComparison('PackageStatus', enums.PackageStatus)
export const PaymentCollectionFilterComparison = enumComparison('PaymentCollection', enums.PaymentCollection)
export const PricingTypeFilterComparison = enumComparison('PricingType', enums.PricingType)
export const PromotionalEntitlementStatusFilterComparison = enumComparison(
  'PromotionalEntitlementStatus',
  enums.PromotionalEntitlementStatus,
)
export const StringFieldComparison = comparison('StringFieldComparison', 'a text', types.String, ofText)
export const SubscriptionCancelReasonFilterComparison = enumComparison('SubscriptionCancelReason', enums.SubscriptionCancelReason)
export const SubscriptionStatusFilterComparison = enumComparison('SubscriptionStatus', enums.SubscriptionStatus)
export const UUIDFilterComparison = comparison('UUIDFilterComparison', 'an identifier of ours', types.String, ofText)
