import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { configTable } from '../../support/config-table.js';
describe('the table of variables in the README', () => {
    it('is what the processes say of themselves', async function () {
        this.timeout(30_000);
        const table = await configTable();
        // On failure: node dist/test/support/config-table.js prints the right one.
        expect(readFileSync('README.md', 'utf8'), `README.md has to contain this table:\n\n${table}\n`).to.include(table);
    });
});
//# sourceMappingURL=table.test.js.map