// `npm start`: the whole platform on one machine, until Ctrl-C.
import { fileURLToPath } from 'node:url';
import { prepareExample } from './example.js';
import { runFromTerminal } from './terminal.js';
await runFromTerminal({ root: fileURLToPath(new URL('../../../', import.meta.url)), prepareExample });
//# sourceMappingURL=start.js.map