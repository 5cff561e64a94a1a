import { type GraphQLField, type GraphQLNamedType, isInputObjectType, isObjectType } from 'graphql'

/** What a name means wherever nothing else is said of it. Names of other things that explain themselves are not here. */
const meanings: Readonly<Record<string, string>> = {
  additionalMetaData: 'An object of your own facts.',
  addonRefId: 'The identifier that the catalog gave the add-on.',
  addons: 'Add-ons, with how many of each.',
  after: 'Begins after this place.',
  amount: 'In whole units: 12.5, not 1250.',
  awsMarketplaceCustomerId: 'Kept and answered; nothing is sent to a marketplace.',
  before: 'Ends before this place.',
  billingInformation: 'Facts for invoices.',
  billingPeriodRange: 'The billing period that is priced.',
  budget: 'What usage-based charges may come to in a billing period.',
  checkoutOptions: 'How the page looks on which the customer pays, and where it leads.',
  credits: 'Balance of the customer that is used.',
  currencyId: 'A currency of credits. There are no credits in Tollgate.',
  currentUsage: 'In the current usage period.',
  cursor: 'The place of the row, for the paging of the next question.',
  customCurrencyId: 'A currency of credits. There are no credits in Tollgate.',
  customerId: 'The identifier that the host application gave the customer.',
  description: 'For people.',
  direction: 'Ascending or descending.',
  discount: 'What is taken off.',
  discountDetails: 'The discount that was applied.',
  displayName: 'For people.',
  displayNameOverride: 'What the package calls the feature; null: its own name.',
  edges: 'The rows of the page, in order.',
  endDate: 'When it ends; exclusive.',
  environmentId: 'Our identifier of the environment.',
  eventName: 'What happened; meters choose events by it.',
  featureId: 'The identifier that the catalog gave the feature.',
  featureRefId: 'The identifier that the catalog gave the feature.',
  hasUnlimitedUsage: 'There is no limit.',
  isGranted: 'The decision.',
  monthlyResetPeriodConfiguration: 'With resetPeriod MONTH: what the periods begin at. Default: the start of the subscription.',
  node: 'The row.',
  nulls: 'Where rows without a value stand.',
  options: 'What is asked for.',
  pageInfo: 'Where the page lies in the list.',
  paymentCollectionMethod: 'How it is paid.',
  planRefId: 'The identifier that the catalog gave the plan.',
  pricingType: 'Whether it costs nothing, has prices, or is priced by agreement.',
  quantity: 'How many.',
  resetPeriod: 'How often usage starts again; null: never.',
  resetPeriodConfiguration: 'What usage periods begin at; null for hours and days.',
  resourceId: 'The identifier that the host application gave the resource; null: the customer itself.',
  salesforceId: 'Kept and answered; nothing is sent to Salesforce.',
  startDate: 'When it begins.',
  subTotal: 'Before discounts and taxes.',
  subTotalExcludingTax: 'Before discounts, without taxes.',
  tax: 'Taxes on what is charged.',
  taxDetails: 'The rate of the taxes.',
  total: 'What is charged, with taxes.',
  totalExcludingTax: 'What is charged, without taxes.',
  trialEndDate: 'When the trial ends; exclusive.',
  trialOverrideConfiguration: 'Wins over the plan’s trial and over whether the customer may still have one.',
  usageLimit:
    'The cap of a metered feature, the value of a NUMBER without a meter; null when unlimited, and in a package that sells it by the unit where that alone says how many.',
  usagePeriodAnchor: 'What usage periods are counted from.',
  usagePeriodEnd: 'Exclusive; null: usage is never reset.',
  usagePeriodStart: 'Null: usage is never reset.',
  weeklyResetPeriodConfiguration: 'With resetPeriod WEEK: what the periods begin at. Default: the start of the subscription.',
  yearlyResetPeriodConfiguration: 'With resetPeriod YEAR: what the periods begin at. Default: the start of the subscription.',
}

/** Describes the fields that nothing is said of by what their name means everywhere. */
export function describeFields(types: readonly GraphQLNamedType[]): void {
  for (const type of types) {
    if (!isObjectType(type) && !isInputObjectType(type)) continue
    for (const field of Object.values(type.getFields()))
      if (!field.description && meanings[field.name]) field.description = meanings[field.name]
  }
}

/** Begins the description of each field that the contract has and Tollgate has nothing for; docs/unsupported-fields.md lists the same fields. */
export const alwaysNullNote = 'Always null: Tollgate has no such thing.'

export const isAlwaysNull = ({ description }: GraphQLField<unknown, unknown>): boolean => description?.startsWith(alwaysNullNote) ?? false
