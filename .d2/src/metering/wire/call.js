export {};
//# sourceMappingURL=call.js.map