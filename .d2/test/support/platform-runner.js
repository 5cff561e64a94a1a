// Runs the platform as `npm start` does, from the folder named by the first argument, for a test run that started it.
import { prepareExample } from '../../src/local/example.js';
import { runFromTerminal } from '../../src/local/terminal.js';
// The test run is gone, however that happened: nothing may stay behind.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
await runFromTerminal({ root: process.argv[2] ?? '', prepareExample });
//# sourceMappingURL=platform-runner.js.map