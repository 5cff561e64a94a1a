import { randomBytes } from 'node:crypto';
import { requiredVariable } from './database.js';
/** The real Redis of this test run. */
export const testRedisUrl = () => requiredVariable('TEST_REDIS_URL');
/** A key prefix nobody else has, with a hash tag as queues need it: `{test-1f0c…}`. */
export const testRedisPrefix = () => `{test-${randomBytes(8).toString('hex')}}`;
//# sourceMappingURL=redis.js.map