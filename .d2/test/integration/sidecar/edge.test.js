import { expect } from 'chai';
import { FakeApi, holding, metered } from '../../contract/grpc/fake-api.js';
import { runSidecar } from '../../contract/grpc/harness.js';
describe('sidecar with the edge API', () => {
    let api;
    let sidecar;
    beforeEach(async () => {
        api = await FakeApi.start();
        sidecar = await runSidecar({
            SERVER_API_KEY: api.acceptedKey,
            API_URL: api.url,
            EDGE_ENABLED: 'TRUE',
            WS_ENABLED: 'FALSE',
            REQUEST_TIMEOUT_MS: '600',
        });
    });
    afterEach(async () => {
        await sidecar.stop();
        await api.stop();
    });
    const check = (customerId, resourceId) => sidecar.call('GetMeteredEntitlement', { customer_id: customerId, resource_id: resourceId, feature_id: 'api-calls' });
    it('reads entitlements there and nothing over GraphQL, whatever characters an identifier has', async () => {
        for (const id of ['plain', 'a/b', '..', '100%', 'ü?&#']) {
            api.states.set(id, holding(metered('api-calls')));
            expect((await check(id)).has_access, id).to.equal(true);
        }
        api.states.set('a/b/r 1', holding(metered('api-calls')));
        expect((await check('a/b', 'r 1')).has_access).to.equal(true);
        expect(api.operations).to.have.length(0);
        expect(api.edgeReads).to.have.length(6);
    });
    it('takes an unknown customer there for a denial', async () => {
        expect(await check('nobody')).to.deep.include({ is_fallback: false, access_denied_reason: 3 });
        expect(api.operations).to.have.length(0);
    });
    for (const [what, behaviour] of [
        ['breaks connections', 'breaks'],
        ['is not served', { status: 404 }],
        ['fails', { status: 502 }],
        ['hangs', 'hangs'],
    ]) {
        it(`asks over GraphQL when the edge ${what}, and leaves the edge alone for a while`, async () => {
            api.edgeBehaviour = behaviour;
            for (const id of ['c', 'd', 'e']) {
                api.states.set(id, holding(metered('api-calls')));
                expect(await check(id)).to.deep.include({ has_access: true, is_fallback: false });
            }
            expect(api.operations).to.have.length(3);
            expect(new Set(api.edgeReads).size).to.equal(1);
        });
    }
    it('falls back within its deadline when neither answers', async () => {
        api.edgeBehaviour = 'hangs';
        api.behaviour = 'hangs';
        const began = Date.now();
        expect(await check('c')).to.deep.include({ is_fallback: true });
        expect(Date.now() - began).to.be.below(700);
    });
    it('falls back when the edge refuses the key or answers no more requests', async () => {
        api.edgeBehaviour = { code: 'Unauthenticated' };
        expect(await check('c')).to.deep.include({ is_fallback: true });
        api.edgeBehaviour = { status: 429 };
        expect(await check('d')).to.deep.include({ is_fallback: true });
        expect(api.operations).to.have.length(0);
    });
});
//# sourceMappingURL=edge.test.js.map