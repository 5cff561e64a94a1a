import { expect } from 'chai';
import { catalogRefused, checkRevived } from '../../../../src/catalog/document/refusal.js';
import { documentWith, parsed, planWith } from '../documents.js';
describe('the refusal of a catalog', () => {
    const problem = (index) => ({ path: `plans[${index}].product`, message: 'is required' });
    it('names the first problems for people and carries all of them for programs', () => {
        const problems = Array.from({ length: 7 }, (_, index) => problem(index));
        const refused = catalogRefused(problems);
        expect(refused).to.include({ code: 'INVALID_ARGUMENT', reason: 'BAD_USER_INPUT' });
        expect(refused.message).to.match(/^The catalog has 7 problems: plans\[0\]\.product is required; .*plans\[4\]\.product is required … and 2 more$/);
        expect(refused.details).to.deep.equal({ problems });
    });
    it('reads well for one problem and for one without a place', () => {
        expect(catalogRefused([problem(0)]).message).to.equal('The catalog has a problem: plans[0].product is required');
        expect(catalogRefused([{ path: '', message: 'must be a map' }]).message).to.equal('The catalog has a problem: must be a map');
    });
});
describe('a definition that comes back from the archive', () => {
    const wanted = parsed(documentWith({ plans: [planWith({})], addons: [{ refId: 'basic', product: 'cloud' }] }));
    const archived = { features: [], plans: [], addons: [] };
    it('may be what it was', () => {
        const calls = { refId: 'calls', type: 'NUMBER', meter: 'Incremental' };
        expect(checkRevived(wanted, { ...archived, features: [calls], plans: [{ refId: 'basic', product: 'cloud' }] })).to.deep.equal([]);
    });
    it('may not be anything else', () => {
        const problems = checkRevived(wanted, {
            features: [{ refId: 'calls', type: 'ENUM', meter: 'None' }],
            plans: [{ refId: 'basic', product: 'another' }],
            addons: [{ refId: 'basic', product: 'cloud' }],
        });
        expect(problems.map(({ path }) => path)).to.deep.equal(['features["calls"].type', 'features["calls"].meter', 'plans["basic"].product']);
        expect(problems[0].message).to.include('ENUM');
    });
});
//# sourceMappingURL=refusal.test.js.map