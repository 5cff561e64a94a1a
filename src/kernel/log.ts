/** Where a reader of the platform tells what happens to it: one line per fact. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>
