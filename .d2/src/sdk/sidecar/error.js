/** A call that could not be answered. */
export class SidecarError extends Error {
    code;
    name = 'SidecarError';
    constructor(
    /** The gRPC status by name: UNAVAILABLE and DEADLINE_EXCEEDED may go well when they are tried again. */
    code, message, cause) {
        super(message, cause === undefined ? undefined : { cause });
        this.code = code;
    }
}
//# sourceMappingURL=error.js.map