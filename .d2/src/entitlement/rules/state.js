export {};
//# sourceMappingURL=state.js.map