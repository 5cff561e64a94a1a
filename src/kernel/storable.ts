/** Whether PostgreSQL can hold it: its text and jsonb have no U+0000, and no half of a character of two units. As fast for a megabyte as for a word. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
