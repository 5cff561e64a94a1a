/** What a sidecar is asked and answers, as in `proto/service/sidecar/v1/sidecar.proto`. Times are Dates; what is absent is null. */
export {};
//# sourceMappingURL=types.js.map