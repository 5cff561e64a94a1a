export {};
//# sourceMappingURL=benchmark.js.map