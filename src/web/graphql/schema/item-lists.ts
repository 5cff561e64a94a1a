/** The lists of the calls that report many things at once. Each item is checked for itself, and a bad one is named by its place. */
export const itemLists = ['usages', 'usageEvents'] as const
