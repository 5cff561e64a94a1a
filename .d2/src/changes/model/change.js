/**
 * entitlements: the whole state of a customer and its resources may be another one · usage: one feature's usage changed · purge: the customer is
 * archived, and copies of it are to be forgotten · package: versions of the catalog changed
 */
export const changeKinds = ['entitlements', 'usage', 'purge', 'package'];
//# sourceMappingURL=change.js.map