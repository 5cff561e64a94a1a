export const keyKinds = ['SERVER', 'CLIENT'];
export function isValidKey({ expiresAt, revokedAt }, now) {
    return revokedAt === null && (expiresAt === null || expiresAt > now);
}
//# sourceMappingURL=environment.js.map