import * as decimal from '../kernel/decimal.js';
import { invalidInput } from '../kernel/problem.js';
/**
 * The request with the tax that its rates come to: their percentages added up. What is agreed is the percentage of now, so a rate that the provider
 * changes later changes no subscription. Calls the provider, so it comes before the transaction. Fails with BAD_USER_INPUT for a rate that is unknown.
 */
export async function withTaxRates(provider, environmentId, { taxRateIds, ...request }) {
    if (!taxRateIds)
        return request;
    const path = 'billingInformation.taxRateIds';
    if (typeof request.taxPercentage === 'string')
        throw invalidInput('Send taxRateIds or taxPercentage, not both: each says what the tax is.', { path });
    if (taxRateIds.length === 0)
        return { ...request, taxPercentage: null, taxName: null };
    const known = new Map((await provider.findTaxRates(environmentId, taxRateIds)).map((rate) => [rate.id, rate]));
    const rates = [...new Set(taxRateIds)].map((id) => {
        const rate = known.get(id);
        if (!rate)
            throw invalidInput(`The billing provider has no tax rate "${id}". With the builtin one, make it with setTaxRate.`, { path });
        return rate;
    });
    const taxPercentage = rates.map(({ percentage }) => percentage).reduce(decimal.add, decimal.zero);
    return { ...request, taxPercentage, taxName: rates.map(({ displayName }) => displayName).join(' + ') };
}
//# sourceMappingURL=tax.js.map