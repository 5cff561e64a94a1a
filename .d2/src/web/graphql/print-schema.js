import { printSchema } from 'graphql';
import { createSchema } from './schema.js';
process.stdout.write(`${printSchema(createSchema())}\n`);
//# sourceMappingURL=print-schema.js.map