export {};
//# sourceMappingURL=billing.js.map