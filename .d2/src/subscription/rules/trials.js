export {};
//# sourceMappingURL=trials.js.map