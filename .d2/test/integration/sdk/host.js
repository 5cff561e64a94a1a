// An application with a sidecar of its own, which says the sidecar's pid and then does nothing until it is killed.
import { startSidecar } from '../../../src/sdk/sidecar/index.js';
const [apiUrl, apiKey = ''] = process.argv.slice(2);
const sidecar = await startSidecar({ apiConfig: { apiKey, ...(apiUrl === undefined ? {} : { apiUrl }) } });
process.stdout.write(`${sidecar.pid}\n`);
setInterval(() => { }, 1_000);
//# sourceMappingURL=host.js.map