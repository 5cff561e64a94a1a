var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType } from 'type-graphql';
import { invalidInput, Problem } from '../../kernel/problem.js';
import { TaxExempt } from './billing.inputs.js';
import * as enums from './enums.js';
import { fromMetaData, sameId } from './input-fields.js';
import { DateTime, Json } from './scalars.js';
import { fromSubscriptionParams, ProvisionCustomerSubscriptionInput } from './subscription.inputs.js';
let Address = class Address {
    addressLine1;
    addressLine2;
    city;
    country;
    phoneNumber;
    postalCode;
    state;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Address.prototype, "addressLine1", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Address.prototype, "addressLine2", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Address.prototype, "city", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 3166-1.' }),
    __metadata("design:type", Object)
], Address.prototype, "country", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Address.prototype, "phoneNumber", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Address.prototype, "postalCode", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Address.prototype, "state", void 0);
Address = __decorate([
    InputType({ description: 'A postal address, passed to the billing provider and not kept.' })
], Address);
export { Address };
let CustomerBillingInfo = class CustomerBillingInfo {
    billingAddress;
    currency;
    customerName;
    integrationId;
    invoiceCustomFields;
    language;
    metadata;
    paymentMethodId;
    shippingAddress;
    taxIds;
    timezone;
};
__decorate([
    Field(() => Address, { nullable: true }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "billingAddress", void 0);
__decorate([
    Field(() => enums.Currency, { nullable: true }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "currency", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The name on invoices.' }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "customerName", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Which integration with a billing provider: passed on with the rest. The builtin one is the only one.',
    }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "integrationId", void 0);
__decorate([
    Field(() => Json, { nullable: true }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "invoiceCustomFields", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The language of invoices.' }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "language", void 0);
__decorate([
    Field(() => Json, { nullable: true }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "metadata", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Of the billing provider.' }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "paymentMethodId", void 0);
__decorate([
    Field(() => Address, { nullable: true }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "shippingAddress", void 0);
__decorate([
    Field(() => [TaxExempt], { nullable: true }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "taxIds", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'IANA name, such as Europe/Berlin: days and months of usage and billing periods follow it. Default UTC.',
    }),
    __metadata("design:type", Object)
], CustomerBillingInfo.prototype, "timezone", void 0);
CustomerBillingInfo = __decorate([
    InputType({
        description: 'Facts for invoices. Currency and time zone are kept: absent leaves them, null clears them. The rest is passed to the billing provider, when the environment has one, and never kept: send it whole.',
    })
], CustomerBillingInfo);
export { CustomerBillingInfo };
/** How an input names its customer. Not a type of the schema. */
let NamedCustomer = class NamedCustomer {
    customerId;
    environmentId;
    refId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Your identifier of the customer, 1 to 255 characters.' }),
    __metadata("design:type", Object)
], NamedCustomer.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], NamedCustomer.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The older name of customerId; when both are sent they must be the same.' }),
    __metadata("design:type", Object)
], NamedCustomer.prototype, "refId", void 0);
NamedCustomer = __decorate([
    InputType()
], NamedCustomer);
/** What every way to write a customer may set. Not a type of the schema. */
let CustomerFacts = class CustomerFacts extends NamedCustomer {
    additionalMetaData;
    billingId;
    email;
    name;
    salesforceId;
};
__decorate([
    Field(() => Json, {
        nullable: true,
        description: 'An object of your own facts. A key that is sent replaces its value, a key sent as null goes, the others stay; null clears all.',
    }),
    __metadata("design:type", Object)
], CustomerFacts.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' }),
    __metadata("design:type", Object)
], CustomerFacts.prototype, "billingId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The billing email.' }),
    __metadata("design:type", Object)
], CustomerFacts.prototype, "email", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CustomerFacts.prototype, "name", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CustomerFacts.prototype, "salesforceId", void 0);
CustomerFacts = __decorate([
    InputType()
], CustomerFacts);
/** Not a type of the schema. */
let CustomerChangeFacts = class CustomerChangeFacts extends CustomerFacts {
    awsMarketplaceCustomerId;
    billingInformation;
    couponRefId;
    crmId;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CustomerChangeFacts.prototype, "awsMarketplaceCustomerId", void 0);
__decorate([
    Field(() => CustomerBillingInfo, { nullable: true }),
    __metadata("design:type", Object)
], CustomerChangeFacts.prototype, "billingInformation", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'A coupon of the catalog for everything that the customer pays; null takes it away.',
    }),
    __metadata("design:type", Object)
], CustomerChangeFacts.prototype, "couponRefId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Identifier in the CRM.' }),
    __metadata("design:type", Object)
], CustomerChangeFacts.prototype, "crmId", void 0);
CustomerChangeFacts = __decorate([
    InputType()
], CustomerChangeFacts);
let CustomerInput = class CustomerInput extends CustomerChangeFacts {
    createdAt;
    shouldSyncFree;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'When the host application created the customer; default now.' }),
    __metadata("design:type", Object)
], CustomerInput.prototype, "createdAt", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the billing provider is told of a customer that pays nothing.' }),
    __metadata("design:type", Object)
], CustomerInput.prototype, "shouldSyncFree", void 0);
CustomerInput = __decorate([
    InputType({ description: 'A new customer, without a subscription. Without customerId, one is made.' })
], CustomerInput);
export { CustomerInput };
let ProvisionCustomerInput = class ProvisionCustomerInput extends CustomerInput {
    excludeFromExperiment;
    subscriptionParams;
};
__decorate([
    Field(() => Boolean, { nullable: true, description: 'There are no experiments to be left out of: any value is fine.' }),
    __metadata("design:type", Object)
], ProvisionCustomerInput.prototype, "excludeFromExperiment", void 0);
__decorate([
    Field(() => ProvisionCustomerSubscriptionInput, {
        nullable: true,
        description: 'Absent: the product’s settings decide what a new customer starts with.',
    }),
    __metadata("design:type", Object)
], ProvisionCustomerInput.prototype, "subscriptionParams", void 0);
ProvisionCustomerInput = __decorate([
    InputType({
        description: 'A customer, and optionally the subscription it starts with. What is absent stays as it is, null clears it. Without customerId, one is made.',
    })
], ProvisionCustomerInput);
export { ProvisionCustomerInput };
let UpdateCustomerInput = class UpdateCustomerInput extends CustomerChangeFacts {
    shouldWaitSync;
};
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the answer waits for the billing provider; it always does.' }),
    __metadata("design:type", Object)
], UpdateCustomerInput.prototype, "shouldWaitSync", void 0);
UpdateCustomerInput = __decorate([
    InputType({ description: 'What changes of a customer. What is absent stays as it is, null clears it.' })
], UpdateCustomerInput);
export { UpdateCustomerInput };
let ImportCustomerInput = class ImportCustomerInput extends CustomerFacts {
    paymentMethodId;
    updatedAt;
};
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'What is charged of the customer from now on: the billing provider’s reference. Not with importCustomersBulk.',
    }),
    __metadata("design:type", Object)
], ImportCustomerInput.prototype, "paymentMethodId", void 0);
__decorate([
    Field(() => DateTime, {
        nullable: true,
        description: 'When the customer last changed where it comes from: an import that is older than the last one changes nothing.',
    }),
    __metadata("design:type", Object)
], ImportCustomerInput.prototype, "updatedAt", void 0);
ImportCustomerInput = __decorate([
    InputType({
        description: 'A customer as it comes from elsewhere: made, without a subscription, or changed. Without customerId, one is made.',
    })
], ImportCustomerInput);
export { ImportCustomerInput };
let ImportCustomerBulkInput = class ImportCustomerBulkInput {
    customers;
    environmentId;
    integrationId;
};
__decorate([
    Field(() => [ImportCustomerInput], { description: 'At most 1,000.' }),
    __metadata("design:type", Array)
], ImportCustomerBulkInput.prototype, "customers", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ImportCustomerBulkInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Where the customers come from. There is one billing provider, so any value is fine.',
    }),
    __metadata("design:type", Object)
], ImportCustomerBulkInput.prototype, "integrationId", void 0);
ImportCustomerBulkInput = __decorate([
    InputType({ description: 'Customers to import, in the background, each on its own; records of one customer in this order.' })
], ImportCustomerBulkInput);
export { ImportCustomerBulkInput };
let ArchiveCustomerInput = class ArchiveCustomerInput {
    customerId;
    environmentId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ArchiveCustomerInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ArchiveCustomerInput.prototype, "environmentId", void 0);
ArchiveCustomerInput = __decorate([
    InputType({ description: 'Which customer.' })
], ArchiveCustomerInput);
export { ArchiveCustomerInput };
let UnarchiveCustomerInput = class UnarchiveCustomerInput extends ArchiveCustomerInput {
};
UnarchiveCustomerInput = __decorate([
    InputType({ description: 'Which customer.' })
], UnarchiveCustomerInput);
export { UnarchiveCustomerInput };
let GetCustomerByRefIdInput = class GetCustomerByRefIdInput extends ArchiveCustomerInput {
};
GetCustomerByRefIdInput = __decorate([
    InputType({ description: 'Which customer.' })
], GetCustomerByRefIdInput);
export { GetCustomerByRefIdInput };
function fromFacts({ additionalMetaData, billingId, email, name, salesforceId }) {
    return { additionalMetaData: fromMetaData(additionalMetaData), billingId, email, name, salesforceId };
}
/** Of the billing information only time zone and currency are kept; the billing provider is told all of it. */
function fromChangeFacts(input) {
    const { awsMarketplaceCustomerId, billingInformation, couponRefId, crmId } = input;
    return {
        ...fromFacts(input),
        awsMarketplaceCustomerId,
        couponRefId,
        crmId,
        timeZone: billingInformation?.timezone,
        billingCurrency: billingInformation?.currency,
        billingInformation: billingInformation && { ...billingInformation },
    };
}
export function fromCustomerInput({ createdAt, ...input }) {
    return { ...fromChangeFacts(input), refId: idOf(input), createdAt };
}
export function fromProvisionCustomerInput({ subscriptionParams, ...input }) {
    return { ...fromCustomerInput(input), subscription: subscriptionParams ? fromSubscriptionParams(subscriptionParams) : null };
}
/** @throws Problem BAD_USER_INPUT when no customer is named */
export function fromUpdateCustomerInput(input) {
    const refId = idOf(input);
    if (refId === null)
        throw invalidInput('customerId is required: which customer is to be changed?', { path: 'customerId' });
    return { refId, change: fromChangeFacts(input) };
}
export function fromImportCustomerInput({ updatedAt, paymentMethodId, ...input }) {
    return { ...fromFacts(input), refId: idOf(input), updatedAt, paymentMethodId };
}
/** The first one that can be refused by reading it refuses them all: nothing was accepted yet. */
export function fromImportCustomerBulkInput({ customers }) {
    return customers.map((customer, index) => {
        try {
            const { paymentMethodId, ...record } = fromImportCustomerInput(customer);
            // What waits to be imported is in a table, where nothing of the provider's is kept.
            if (paymentMethodId)
                throw invalidInput('send paymentMethodId with importOneCustomer or updateOneCustomer, not in bulk.');
            return record;
        }
        catch (error) {
            throw error instanceof Problem ? invalidInput(`customers[${index}]: ${error.message}`, { path: `customers[${index}]` }) : error;
        }
    });
}
const idOf = ({ customerId, refId }) => sameId({ customerId, refId });
//# sourceMappingURL=customer.inputs.js.map