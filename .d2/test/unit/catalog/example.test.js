import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { compareCatalogs } from '../../../src/catalog/document/difference.js';
import { exportCatalog } from '../../../src/catalog/document/export.js';
import { parseCatalogText } from '../../../src/catalog/document/parse.js';
import { parsed } from './documents.js';
const options = { current: null, archiveMissing: false };
function read(text) {
    const result = parseCatalogText(text, options);
    if ('problems' in result)
        throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    return result.catalog;
}
const catalog = () => read(readFileSync('src/local/example-catalog.yaml', 'utf8'));
describe('the example catalog', () => {
    it('is right', () => {
        expect(catalog().plans.map(({ refId, basePlan }) => [refId, basePlan])).to.deep.equal([
            ['business', 'team'],
            ['free', null],
            ['team', 'free'],
        ]);
    });
    it('has a feature of every sort: boolean, numeric, list, reported up and down, and measured from events', () => {
        const sorts = catalog().features.map(({ refId, type, meter, events }) => [refId, type, meter, events?.aggregation ?? null]);
        expect(sorts).to.deep.equal([
            ['ai-tokens', 'NUMBER', 'Incremental', 'SUM'],
            ['api-calls', 'NUMBER', 'Incremental', null],
            ['seats', 'NUMBER', 'Fluctuating', null],
            ['sso', 'BOOLEAN', 'None', null],
            ['storage-gb', 'NUMBER', 'None', null],
            ['support-channels', 'ENUM', 'None', null],
        ]);
    });
    it('reads back as it was exported', () => {
        expect(parsed(exportCatalog(catalog()))).to.deep.equal(catalog());
        expect(compareCatalogs(catalog(), parsed(exportCatalog(catalog())), { archiveMissing: true })).to.deep.equal([]);
    });
});
describe('the reference of the catalog document', () => {
    const page = readFileSync('src/web/docs/catalog.md', 'utf8');
    it('shows only documents that are right', () => {
        const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text);
        expect(examples).to.not.have.length(0);
        for (const example of examples)
            expect(() => read(example), example).to.not.throw();
    });
});
//# sourceMappingURL=example.test.js.map