import { expect } from 'chai';
import fc from 'fast-check';
import { column, nullable } from '../../../src/platform/list/columns.js';
import { readPage } from '../../../src/platform/list/page.js';
import { silentLogger } from '../../../src/platform/logger.js';
import { openPostgres, Prisma } from '../../../src/platform/postgres.js';
import { Life } from '../../../src/platform/process.js';
import { createTestDatabase } from '../../support/database.js';
const columns = {
    name: nullable('text', 'item.name'),
    size: nullable('integer', 'item.size'),
    at: column('time', 'item.at'),
    isOpen: column('boolean', 'item.is_open'),
};
const list = {
    from: Prisma.sql `item`,
    id: column('uuid', 'item.id'),
    columns,
    defaultSort: { field: 'at', direction: 'DESC' },
};
const everything = Prisma.sql `TRUE`;
const idOf = (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
// Few values, so that many rows are equal.
const rows = fc.array(fc.record({
    name: fc.constantFrom(null, 'a', 'B', 'b', 'ä', ''),
    size: fc.constantFrom(null, -1, 0, 7),
    at: fc.constantFrom(Date.UTC(2026, 0, 31), Date.UTC(2026, 0, 31, 0, 0, 0, 1), Date.UTC(1969, 11, 31)),
    isOpen: fc.boolean(),
}), { maxLength: 25 });
const sorting = fc.array(fc.record({
    field: fc.constantFrom(...Object.keys(columns)),
    direction: fc.constantFrom('ASC', 'DESC'),
    nulls: fc.constantFrom(null, 'NULLS_FIRST', 'NULLS_LAST'),
}), { maxLength: 3 });
describe('pages of a list', () => {
    const life = new Life('test', silentLogger());
    let prisma;
    let drop;
    before(async () => {
        const database = await createTestDatabase();
        drop = database.drop;
        prisma = openPostgres(life, database.url, { poolSize: 2 }).prisma;
        await prisma.$executeRaw `
      CREATE TABLE item (id uuid PRIMARY KEY, name text, size integer, at timestamptz(3) NOT NULL, is_open boolean NOT NULL)`;
    });
    after(async () => {
        expect(await life.stop()).to.deep.equal([]);
        await drop();
    });
    const fill = async (items) => {
        await prisma.$executeRaw `TRUNCATE item`;
        for (const [index, { name, size, at, isOpen }] of items.entries())
            await prisma.$executeRaw `INSERT INTO item VALUES (${idOf(index)}::uuid, ${name}, ${size}, ${new Date(at)}, ${isOpen})`;
    };
    const read = (request) => readPage(prisma, list, everything, request);
    const ids = ({ rows: found }) => found.map(({ item }) => item);
    /** All rows in the order of the list, by one statement of our own. */
    const inOrder = async (keys) => {
        const names = { name: 'name', size: 'size', at: 'at', isOpen: 'is_open' };
        const sorts = keys.length > 0 ? keys : [list.defaultSort];
        const parts = sorts.map(({ field, direction, nulls }) => `${names[field]} ${direction} ${nulls ? nulls.replace('_', ' ') : ''}`);
        const found = await prisma.$queryRawUnsafe(`SELECT id FROM item ORDER BY ${[...parts, `id ${sorts.at(-1).direction}`].join(', ')}`);
        return found.map(({ id }) => id);
    };
    const walk = async (keys, size, isForward) => {
        const seen = [];
        let cursor = null;
        for (let pages = 0; pages < 100; pages++) {
            const paging = isForward ? { first: size, after: cursor } : { last: size, before: cursor };
            const page = await read({ sorting: keys, paging });
            if (isForward)
                seen.push(...ids(page));
            else
                seen.unshift(...ids(page));
            const [hasBehind, hasMore] = isForward ? [page.hasPreviousPage, page.hasNextPage] : [page.hasNextPage, page.hasPreviousPage];
            expect(hasBehind, 'whether there is a page behind').to.equal(seen.length > page.rows.length);
            if (!hasMore)
                return seen;
            cursor = (isForward ? page.rows.at(-1) : page.rows[0]).cursor;
        }
        throw new Error('the walk does not end');
    };
    it('walked forwards and backwards, in any order and size, answer each row once and in that order', async function () {
        this.timeout(60_000);
        await fc.assert(fc.asyncProperty(rows, sorting, fc.integer({ min: 1, max: 7 }), async (items, keys, size) => {
            await fill(items);
            const expected = await inOrder(keys);
            expect(await walk(keys, size, true), 'forwards').to.deep.equal(expected);
            expect(await walk(keys, size, false), 'backwards').to.deep.equal(expected);
            expect(await (await read({ sorting: keys, paging: { first: 0 } })).totalCount()).to.equal(items.length);
        }), { numRuns: 60 });
    });
    it('skip and repeat nothing when rows come and go between them', async () => {
        const row = (at) => ({ name: null, size: null, at, isOpen: true });
        await fill([row(1), row(2), row(2), row(3), row(4)]);
        const first = await read({ paging: { first: 2 } });
        expect(ids(first)).to.deep.equal([idOf(4), idOf(3)]);
        // One before the cursor, one at its very place, one after it; and the row of the cursor goes.
        await prisma.$executeRaw `INSERT INTO item VALUES (${idOf(10)}::uuid, NULL, NULL, ${new Date(9)}, TRUE), (${idOf(11)}::uuid, NULL, NULL, ${new Date(3)}, TRUE), (${idOf(12)}::uuid, NULL, NULL, ${new Date(2)}, TRUE)`;
        await prisma.$executeRaw `DELETE FROM item WHERE id = ${idOf(3)}::uuid`;
        const second = await read({ paging: { first: 10, after: first.rows.at(-1).cursor } });
        expect(ids(second)).to.deep.equal([idOf(12), idOf(2), idOf(1), idOf(0)]);
        expect(second.hasPreviousPage).to.equal(true);
    });
    it('answer what lies between two cursors, and what is just before one', async () => {
        await fill(Array.from({ length: 9 }, (_, at) => ({ name: null, size: null, at, isOpen: true })));
        const sortingByTime = [{ field: 'at', direction: 'ASC' }];
        const all = await read({ sorting: sortingByTime, paging: { first: 9 } });
        const at = (index) => all.rows[index].cursor;
        const between = await read({ sorting: sortingByTime, paging: { first: 9, after: at(1), before: at(4) } });
        expect(ids(between)).to.deep.equal([idOf(2), idOf(3)]);
        expect(between).to.include({ hasNextPage: true, hasPreviousPage: true });
        expect(ids(await read({ sorting: sortingByTime, paging: { before: at(3) } }))).to.deep.equal([idOf(0), idOf(1), idOf(2)]);
        expect(ids(await read({ sorting: sortingByTime, paging: { last: 2 } }))).to.deep.equal([idOf(7), idOf(8)]);
    });
    it('refuse cursors of another order, of other lists and of nobody', async () => {
        await fill([{ name: 'a', size: 1, at: 1, isOpen: true }]);
        const { cursor } = (await read({})).rows[0];
        for (const [sort, after] of [
            [[{ field: 'at', direction: 'ASC' }], cursor],
            [[{ field: 'name', direction: 'DESC' }], cursor],
            [[], 'nonsense'],
            [[], Buffer.from('["at- id-","1",2]').toString('base64url')],
            [[], ''],
        ]) {
            const refused = await read({ sorting: sort, paging: { after } }).catch((error) => error.reason);
            expect(refused, after).to.equal('BAD_USER_INPUT');
        }
    });
    it('refuse sizes that are not served', async () => {
        for (const paging of [{ first: 101 }, { last: 101 }, { first: -1 }, { first: 1, last: 1 }]) {
            const refused = await read({ paging }).catch((error) => error.reason);
            expect(refused, JSON.stringify(paging)).to.equal('BAD_USER_INPUT');
        }
        expect((await read({ paging: { first: 100 } })).rows).to.have.length(1);
    });
    describe('are filtered', () => {
        const items = [
            { name: 'Ann', size: 1, at: 10, isOpen: true },
            { name: 'bob', size: 5, at: 20, isOpen: false },
            { name: null, size: null, at: 30, isOpen: true },
            { name: '100%_\\', size: -3, at: 40, isOpen: false },
        ];
        before(() => fill(items));
        const cases = [
            ['by equality', { name: { eq: 'Ann' } }, [0]],
            ['by inequality, which a missing value does not pass', { name: { neq: 'Ann' } }, [1, 3]],
            ['by absence', { name: { is: null } }, [2]],
            ['by presence', { name: { isNot: null } }, [0, 1, 3]],
            ['by truth', { isOpen: { is: true } }, [0, 2]],
            ['by what is not true', { isOpen: { isNot: true } }, [1, 3]],
            ['by a list', { name: { in: ['Ann', 'bob', 'nobody'] } }, [0, 1]],
            ['by an empty list, which nothing is in', { name: { in: [] } }, []],
            ['by exclusion', { name: { notIn: ['Ann'] } }, [1, 3]],
            ['by an empty exclusion, which excludes nothing', { name: { notIn: [] } }, [0, 1, 2, 3]],
            ['by a pattern', { name: { like: '%b' } }, [1]],
            ['by a pattern in any case', { name: { iLike: 'a%' } }, [0]],
            ['by no pattern', { name: { notLike: '%b' } }, [0, 3]],
            ['by no pattern in any case', { name: { notILike: 'A%' } }, [1, 3]],
            ['by escaped patterns', { name: { like: '100\\%\\_%' } }, [3]],
            ['by a pattern that ends in an escape', { name: { like: '%\\' } }, [3]],
            ['by more', { size: { gt: 1 } }, [1]],
            ['by as much or more', { size: { gte: 1 } }, [0, 1]],
            ['by less', { size: { lt: 1 } }, [3]],
            ['by as little or less', { size: { lte: 1 } }, [0, 3]],
            ['by a range, its ends included', { at: { between: { lower: 10, upper: 30 } } }, [0, 1, 2]],
            ['by what is out of a range', { at: { notBetween: { lower: 10, upper: 30 } } }, [3]],
            ['by several operators at once', { size: { gte: 1, lt: 5 } }, [0]],
            ['by several fields at once', { isOpen: { is: true }, name: { isNot: null } }, [0]],
            ['by any of a group', { or: [{ name: { eq: 'Ann' } }, { at: { gt: 30 } }] }, [0, 3]],
            ['by all of a group', { and: [{ size: { gt: 0 } }, { size: { lt: 5 } }] }, [0]],
            ['by groups of groups', { or: [{ and: [{ size: { eq: 5 } }, { isOpen: { is: false } }] }, { name: { is: null } }] }, [1, 2]],
            ['by nothing', { and: [], or: [], name: null }, [0, 1, 2, 3]],
            ['by times before the calendar begins', { at: { gt: Date.parse('0000-01-01T00:00:00Z') } }, [0, 1, 2, 3]],
        ];
        for (const [title, filter, expected] of cases) {
            it(title, async () => {
                const page = await read({ filter, sorting: [{ field: 'at', direction: 'ASC' }] });
                expect(ids(page)).to.deep.equal(expected.map(idOf));
                expect(await page.totalCount()).to.equal(expected.length);
            });
        }
        for (const [title, filter] of [
            ['an unknown field', { colour: { eq: 'red' } }],
            ['a value that is missing', { name: { eq: null } }],
            ['truth of a text', { name: { is: true } }],
            ['a character that no text has', { name: { eq: '\0' } }],
            ['more comparisons than anybody writes', { or: Array.from({ length: 201 }, () => ({ name: { eq: 'a' } })) }],
        ]) {
            it(`not by ${title}`, async () => {
                const refused = await read({ filter }).catch((error) => error.reason);
                expect(refused).to.equal('BAD_USER_INPUT');
            });
        }
    });
});
//# sourceMappingURL=list.test.js.map