/**
 * The messages of `proto/service/sidecar/v1/sidecar.proto` as they arrive here: fields with presence are undefined when they were
 * not sent, all others are there with their zero; enums are numbers.
 */
export {};
//# sourceMappingURL=messages.js.map