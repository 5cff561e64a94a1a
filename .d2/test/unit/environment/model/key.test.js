import { expect } from 'chai';
import { isValidKey } from '../../../../src/environment/model/environment.js';
import { hashKey, hintOf, isWellFormedKey, makeKey } from '../../../../src/environment/model/key.js';
describe('API key', () => {
    it('says its kind and carries far more chance than anybody can guess', () => {
        expect(makeKey('SERVER')).to.match(/^server-[0-9A-Za-z]{40}$/);
        expect(makeKey('CLIENT')).to.match(/^client-[0-9A-Za-z]{40}$/);
        expect(new Set(Array.from({ length: 1_000 }, () => makeKey('SERVER'))).size).to.equal(1_000);
    });
    it('uses all letters and digits about equally often', () => {
        const counts = new Map();
        for (let i = 0; i < 2_000; i++)
            for (const character of makeKey('SERVER').slice(7))
                counts.set(character, (counts.get(character) ?? 0) + 1);
        expect(counts.size).to.equal(62);
        const expected = (2_000 * 40) / 62;
        for (const [character, count] of counts)
            expect(count, character).to.be.within(expected * 0.75, expected * 1.25);
    });
    it('is recognised by its form', () => {
        expect(isWellFormedKey(makeKey('SERVER'))).to.equal(true);
        const others = [
            '',
            'server-',
            'server-short',
            makeKey('SERVER').toUpperCase(),
            ` ${makeKey('SERVER')}`,
            `${makeKey('CLIENT')}\n`,
            `server-${'a'.repeat(201)}`,
        ];
        for (const other of others)
            expect(isWellFormedKey(other), other).to.equal(false);
    });
    it('is kept as its SHA-256 and its last four characters', () => {
        expect(hashKey('server-abc').toString('hex')).to.equal('63e919a9f0fdecc7fad0779abdb92a3874f552d38d5248bd8580478f8e4f4ad2');
        expect(hintOf('server-abcdefgh')).to.equal('efgh');
    });
    it('is valid until the instant it expires or is revoked', () => {
        expect(isValidKey({ expiresAt: null, revokedAt: null }, 1_000)).to.equal(true);
        expect(isValidKey({ expiresAt: 1_001, revokedAt: null }, 1_000)).to.equal(true);
        expect(isValidKey({ expiresAt: 1_000, revokedAt: null }, 1_000)).to.equal(false);
        expect(isValidKey({ expiresAt: null, revokedAt: 1_000 }, 1_000)).to.equal(false);
    });
});
//# sourceMappingURL=key.test.js.map