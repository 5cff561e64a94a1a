/** The Redis channel that carries the changes of one environment to its web processes. */
export const changeChannel = (prefix, environmentId) => `${prefix}:changes:${environmentId}`;
//# sourceMappingURL=change-message.js.map