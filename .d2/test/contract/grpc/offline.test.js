import { channel } from 'node:diagnostics_channel';
import { expect } from 'chai';
import { FakeApi } from './fake-api.js';
import { errorOf, runSidecar } from './harness.js';
describe('sidecar offline', () => {
    let api;
    let sidecar;
    const remotePorts = [];
    const watch = (message) => {
        const { socket } = message;
        socket.on('connect', () => remotePorts.push(socket.remotePort ?? 0));
    };
    before(async () => {
        channel('net.client.socket').subscribe(watch);
        api = await FakeApi.start();
        const fallback = JSON.stringify({
            sso: { hasAccess: true },
            'api-calls': { hasAccess: true, usageLimit: 5 },
            seats: { hasAccess: true, isUnlimited: true },
        });
        // Any key will do, an API and a WebSocket address are known: nothing of it is used.
        sidecar = await runSidecar({
            OFFLINE: 'TRUE',
            SERVER_API_KEY: 'whatever',
            API_URL: api.url,
            WS_ENABLED: 'TRUE',
            EDGE_ENABLED: 'TRUE',
            EDGE_API_URL: api.url,
            REDIS_ENVIRONMENT_PREFIX: 'production',
            REDIS_HOST: '127.0.0.1',
            REDIS_PORT: String(api.port),
            QUEUE_REDIS_URL: `redis://127.0.0.1:${api.port}/0?environment=e`,
            ENTITLEMENTS_FALLBACK: fallback,
        });
    });
    after(async () => {
        await sidecar.stop();
        await api.stop();
        channel('net.client.socket').unsubscribe(watch);
    });
    it('answers checks from the global fallback', async () => {
        const metered = await sidecar.call('GetMeteredEntitlement', {
            customer_id: 'c',
            feature_id: 'api-calls',
            options: { requested_usage: 2 },
        });
        expect(metered).to.deep.include({ has_access: true, is_fallback: true, requested_usage: 2 });
        expect(metered.entitlement).to.include({ usage_limit: 5 });
        const seats = await sidecar.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'seats' });
        expect(seats.entitlement).to.include({ is_unlimited: true });
        const sso = await sidecar.call('GetBooleanEntitlement', { customer_id: 'c', feature_id: 'sso' });
        expect(sso).to.deep.include({ has_access: true, is_fallback: true });
        const numeric = await sidecar.call('GetNumericEntitlement', { customer_id: 'c', feature_id: 'api-calls' });
        expect(numeric.entitlement).to.include({ value: 5 });
    });
    it('denies a feature without fallback', async () => {
        const answer = await sidecar.call('GetBooleanEntitlement', { customer_id: 'c', feature_id: 'other' });
        expect(answer).to.include({ is_fallback: true, access_denied_reason: 1 });
        expect(answer.has_access ?? false).to.equal(false);
    });
    it('prefers the fallback of the request', async () => {
        const answer = await sidecar.call('GetBooleanEntitlement', {
            customer_id: 'c',
            feature_id: 'sso',
            options: { fallback: { has_access: false } },
        });
        expect(answer).to.include({ is_fallback: true, access_denied_reason: 1 });
    });
    it('answers every other method empty', async () => {
        expect((await sidecar.call('GetEntitlements', { customer_id: 'c' })).entitlements).to.deep.equal([]);
        expect((await sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'api-calls', value: 1 })).measurement_id ?? '').to.equal('');
        expect(await sidecar.call('ReportEvents', { events: [{ event_name: 'e', customer_id: 'c', idempotency_key: 'k' }] })).to.deep.equal({});
        expect((await sidecar.call('ReloadEntitlements', { customer_id: 'c' })).entitled_entity_exists ?? false).to.equal(false);
    });
    it('still refuses what makes no sense', async () => {
        expect((await errorOf(sidecar.call('GetBooleanEntitlement', { customer_id: '', feature_id: 'sso' }))).code).to.equal(3);
    });
    it('opens no connection to anybody', () => {
        expect(api.connections).to.equal(0);
        // The only sockets are those of this test's own client.
        expect(remotePorts.filter((port) => port !== sidecar.grpcPort)).to.deep.equal([]);
        expect(remotePorts).to.not.deep.equal([]);
    });
    it('needs no key', async () => {
        const keyless = await runSidecar({ OFFLINE: 'TRUE' });
        expect((await keyless.call('GetBooleanEntitlement', { customer_id: 'c', feature_id: 'f' })).is_fallback).to.equal(true);
        await keyless.stop();
    });
});
//# sourceMappingURL=offline.test.js.map