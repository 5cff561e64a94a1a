import { expect } from 'chai';
import { lineCursor, pageOfLines, sortLines } from '../../../../src/metering/model/history-paging.js';
describe('a page of lines', () => {
    const groupBy = ['model', 'region'];
    const lines = sortLines(['a', 'b', 'c'].flatMap((model) => ['', 'eu', 'us'].map((region) => ({
        tags: [
            { key: 'model', value: model },
            { key: 'region', value: region },
        ],
    }))));
    const named = (shown) => shown.map(({ tags }) => tags.map(({ value }) => value).join('/'));
    const page = (paging) => named(pageOfLines(lines, { first: null, last: null, after: null, before: null, ...paging }, groupBy));
    const at = (index) => lineCursor(lines[index]);
    it('walks forwards and backwards, and meets each line once', () => {
        expect(page({ first: 4 })).to.deep.equal(['a/', 'a/eu', 'a/us', 'b/']);
        expect(page({ first: 4, after: at(3) })).to.deep.equal(['b/eu', 'b/us', 'c/', 'c/eu']);
        expect(page({ first: 4, after: at(7) })).to.deep.equal(['c/us']);
        expect(page({ last: 2 })).to.deep.equal(['c/eu', 'c/us']);
        expect(page({ last: 2, before: at(7) })).to.deep.equal(['b/us', 'c/']);
        expect(page({ before: at(2) })).to.deep.equal(['a/', 'a/eu']);
        expect(page({ first: 5, after: at(0), before: at(3) })).to.deep.equal(['a/eu', 'a/us']);
        expect(page({})).to.have.length(9);
    });
    it('goes on behind a line that is gone', () => {
        const gone = lineCursor({
            tags: [
                { key: 'model', value: 'aa' },
                { key: 'region', value: 'x' },
            ],
        });
        expect(page({ first: 1, after: gone })).to.deep.equal(['b/']);
    });
    it('refuses sizes that are not served, and cursors of another grouping', () => {
        const other = lineCursor({ tags: [{ key: 'region', value: 'eu' }] });
        for (const paging of [{ first: 1, last: 1 }, { first: 101 }, { last: -1 }, { after: 'nonsense' }, { after: other }, { before: other }])
            expect(() => page(paging), JSON.stringify(paging)).to.throw();
    });
});
//# sourceMappingURL=history-paging.test.js.map