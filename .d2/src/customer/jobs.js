import { z } from 'zod';
const runImportSchema = z.object({ v: z.literal(1), environmentId: z.string(), importId: z.string() });
/**
 * Wakes a worker for the next slice of an import. Only a wake-up: what is left to import is read from PostgreSQL, and the sweep finds it when the job
 * was lost.
 */
export const runImport = {
    queue: 'imports',
    name: 'run',
    version: 1,
    parse: (data) => runImportSchema.parse(data),
};
//# sourceMappingURL=jobs.js.map