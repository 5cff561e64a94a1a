import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import {
  buildSchema,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isObjectType,
  isUnionType,
  printSchema,
} from 'graphql'
import { createSchema } from '../../../src/web/graphql/schema.js'
import { packageRoot } from '../../../src/web/pages/package-files.js'

/** What deployed clients compile against. */
const contract = buildSchema(readFileSync(join(packageRoot, 'test/contract/graphql/contract.graphql'), 'utf8'))
const ours = createSchema()

/** Everything of ours that is not in the contract: `Type`, `Type.field` or `Enum.VALUE`. */
const additions = [
  'Alert',
  'AlertConnection',
  'AlertCrossing',
  'AlertCrossingConnection',
  'AlertCrossingEdge',
  'AlertCrossingEndReason',
  'AlertCrossingFilter',
  'AlertEdge',
  'AlertInput',
  'AlertSubject',
  'AlertThreshold',
  'AlertThresholdInput',
  'AlertThresholdKind',
  'ApiKey',
  'ApiKeyKind',
  'ApiKeyStatus',
  'ApiKeysInput',
  'AuditActor',
  'AuditActorKind',
  'AuditEntityKind',
  'AuditEntry',
  'AuditEntryConnection',
  'AuditEntryEdge',
  'AuditLogFilter',
  'BillingCall',
  'CatalogAction',
  'CatalogChange',
  'CatalogFieldChange',
  'CatalogKind',
  'ChangedUsage',
  'CreateAlertInput',
  'CreateApiKeyInput',
  'CreateWebhookEndpointInput',
  'CreatedApiKey',
  'CreatedEnvironment',
  'DisablePersistentCacheInput',
  'EnablePersistentCacheInput',
  'EntitlementsState.next',
  'EntitlementsState.validUntil',
  'EntitlementsStateAccessDeniedReason.CustomerResourceNotFound',
  'EntitlementsUpdated.next',
  'EntitlementsUpdated.validUntil',
  'Environment',
  'EnvironmentInput',
  'FailedInvoiceInput',
  'ImportItem',
  'ImportItemStatus',
  'ImportJob',
  'ImportJobInput',
  'InvoiceInput',
  'Mutation.advanceTestClock',
  'Mutation.applyCatalog',
  'Mutation.createAlert',
  'Mutation.createApiKey',
  'Mutation.createEnvironment',
  'Mutation.createTestClock',
  'Mutation.createWebhookEndpoint',
  'Mutation.deleteAlert',
  'Mutation.deleteWebhookEndpoint',
  'Mutation.disablePersistentCache',
  'Mutation.enablePersistentCache',
  'Mutation.markInvoiceFailed',
  'Mutation.markInvoicePaid',
  'Mutation.recomputeUsage',
  'Mutation.removeUsageEvent',
  'Mutation.removeUsageMeasurement',
  'Mutation.replaceUsageEvent',
  'Mutation.replaceUsageMeasurement',
  'Mutation.requirePaymentAction',
  'Mutation.resendWebhookDeliveries',
  'Mutation.retryBillingCalls',
  'Mutation.revokeApiKey',
  'Mutation.rotateApiKey',
  'Mutation.rotateWebhookSecret',
  'Mutation.setPaymentMethod',
  'Mutation.setTaxRate',
  'Mutation.testWebhookEndpoint',
  'Mutation.updateAlert',
  'Mutation.updateWebhookEndpoint',
  'Mutation.warmPersistentCache',
  'NextEntitlements',
  'PackageMigration',
  'PaymentMethodInput',
  'PersistentCacheWarming',
  'Query.alertCrossings',
  'Query.alerts',
  'Query.apiKeys',
  'Query.auditLog',
  'Query.billingCalls',
  'Query.catalog',
  'Query.environments',
  'Query.importJob',
  'Query.packageMigrations',
  'Query.persistentCacheWarming',
  'Query.taxRates',
  'Query.testClock',
  'Query.usageRecomputation',
  'Query.webhookDeliveries',
  'Query.webhookEndpoints',
  'RecomputeUsageInput',
  'ResendWebhookDeliveriesInput',
  'ResentWebhooks',
  'RevokeApiKeyInput',
  'RotateApiKeyInput',
  'RotateWebhookSecretInput',
  'StateChange',
  'StateChangeKind',
  'Subscription.alertTriggered',
  'Subscription.stateChanges',
  'TaxRate',
  'TaxRateInput',
  'TestClock',
  'TestClockInput',
  'UpdateAlertInput',
  'UpdateWebhookEndpointInput',
  'UsageEventNameInput',
  'UsageEventReplacementInput',
  'UsageHistorySeries.cursor',
  'UsageMeasurementNameInput',
  'UsageMeasurementReplacementInput',
  'UsageRecomputation',
  'WebhookAttempt',
  'WebhookDeliveriesInput',
  'WebhookDelivery',
  'WebhookDeliveryPage',
  'WebhookDeliveryStatus',
  'WebhookDisabledReason',
  'WebhookEndpoint',
  'WebhookEndpointInput',
  'WebhookEndpointStatus',
  'WebhookEndpointWithSecret',
  'WebhookTest',
]

const typesOf = (schema: GraphQLSchema) => Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
const shared = typesOf(ours).filter(({ name }) => contract.getType(name))
const theirs = <T extends GraphQLNamedType>(type: T) => contract.getType(type.name) as T

describe('GraphQL contract', () => {
  it('has every type', () => {
    const known = new Set(typesOf(ours).map(({ name }) => name))
    expect(typesOf(contract).flatMap(({ name }) => (known.has(name) || isBuiltIn(name) ? [] : [name]))).to.deep.equal([])
  })

  it('has every field, input field and argument', () => {
    const lacking = [
      ...shared.filter(isObjectType).flatMap((type) => missing(type.name, theirs(type).getFields(), type.getFields())),
      ...shared.filter(isInputObjectType).flatMap((type) => missing(type.name, theirs(type).getFields(), type.getFields())),
    ]
    expect(lacking).to.deep.equal([])
  })

  it('adds nothing that is not listed', () => {
    const found = [
      ...typesOf(ours).flatMap(({ name }) => (contract.getType(name) || isBuiltIn(name) ? [] : [name])),
      ...shared.filter(isObjectType).flatMap((type) => missing(type.name, type.getFields(), theirs(type).getFields())),
      ...shared.filter(isInputObjectType).flatMap((type) => missing(type.name, type.getFields(), theirs(type).getFields())),
      ...shared.filter(isEnumType).flatMap((type) => missing(type.name, valuesOf(type), valuesOf(theirs(type)))),
    ]
    expect(found.sort()).to.deep.equal([...additions].sort())
  })

  for (const type of shared) {
    it(`keeps ${type.name} the kind of type that it is`, () => {
      expect(type.constructor.name).to.equal(theirs(type).constructor.name)
    })
  }

  for (const type of shared.filter(isObjectType)) {
    it(`answers ${type.name} with the contract's types`, () => {
      for (const [name, field] of Object.entries(type.getFields())) {
        const expected = theirs(type).getFields()[name]
        if (!expected) continue
        expect(String(field.type), `${type.name}.${name}`).to.equal(String(expected.type))
        for (const argument of expected.args) {
          const own = field.args.find((candidate) => candidate.name === argument.name)
          expect(own && String(own.type), `${type.name}.${name}(${argument.name}:)`).to.equal(String(argument.type))
        }
        for (const own of field.args) {
          const isNew = !expected.args.some((argument) => argument.name === own.name)
          expect(isNew && isNonNullType(own.type), `${type.name}.${name}(${own.name}:) is demanded`).to.equal(false)
        }
      }
    })
  }

  for (const type of shared.filter(isInputObjectType)) {
    it(`takes ${type.name} no stricter than the contract`, () => {
      checkInput(type, theirs(type))
    })
  }

  for (const type of shared.filter(isEnumType)) {
    it(`knows every value of ${type.name}`, () => {
      expect(Object.keys(valuesOf(type))).to.include.members(Object.keys(valuesOf(theirs(type))))
    })
  }

  for (const type of shared.filter(isUnionType)) {
    it(`unites in ${type.name} what the contract does`, () => {
      expect(namesOf(type.getTypes())).to.deep.equal(namesOf(theirs(type).getTypes()))
    })
  }

  it('is printed by its command, and nothing else is', async () => {
    const printer = fileURLToPath(new URL('../../../src/web/graphql/print-schema.js', import.meta.url))
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [printer], { maxBuffer: 4 * 1024 * 1024 })
    expect(stderr).to.equal('')
    expect(stdout).to.equal(`${printSchema(ours)}\n`)
  })

  it('describes every root field, argument, input and enum', () => {
    const undescribed: string[] = []
    for (const root of [ours.getQueryType()!, ours.getMutationType()!, ours.getSubscriptionType()!]) {
      for (const field of Object.values(root.getFields())) {
        if (!field.description) undescribed.push(`${root.name}.${field.name}`)
        for (const argument of field.args) if (!argument.description) undescribed.push(`${root.name}.${field.name}(${argument.name}:)`)
      }
    }
    for (const type of typesOf(ours)) if ((isInputObjectType(type) || isEnumType(type)) && !type.description) undescribed.push(type.name)
    expect(undescribed).to.deep.equal([])
  })
})

function checkInput(own: GraphQLInputObjectType, expected: GraphQLInputObjectType): void {
  for (const [name, field] of Object.entries(own.getFields())) {
    const wanted = expected.getFields()[name]
    if (wanted) expect(isAsLenient(field.type, wanted.type), `${own.name}.${name}: ${field.type} instead of ${wanted.type}`).to.equal(true)
    else expect(isNonNullType(field.type), `${own.name}.${name} is demanded`).to.equal(false)
  }
  for (const [name, field] of Object.entries(expected.getFields())) {
    if (isNonNullType(field.type)) expect(own.getFields()[name], `${own.name}.${name}`).to.not.equal(undefined)
  }
}

/** The same type, or without a `!` that the contract has. */
function isAsLenient(own: GraphQLInputType, expected: GraphQLInputType): boolean {
  return String(own) === String(expected) || (isNonNullType(expected) && String(own) === String(expected.ofType))
}

function missing(owner: string, own: object, expected: object): string[] {
  return Object.keys(own).flatMap((name) => (name in expected ? [] : [`${owner}.${name}`]))
}

const valuesOf = (type: GraphQLEnumType) => Object.fromEntries(type.getValues().map((value) => [value.name, value]))
const namesOf = (types: readonly { name: string }[]) => types.map(({ name }) => name).sort()
const isBuiltIn = (name: string) => ['Boolean', 'Float', 'ID', 'Int', 'String'].includes(name)
