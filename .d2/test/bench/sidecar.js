import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeApi } from '../contract/grpc/fake-api.js';
import { compare } from './compare.js';
import { connections, loadFully, loadPaced, requireH2load, streams } from './h2load.js';
import { callOnce, calls, countedHits, customerId, definitionOf, entitlementsOf, frame, startReference, startSidecar, wrong, } from './sidecar-calls.js';
/** Short ones: the sooner the other side runs, the likelier under the same conditions. */
const rounds = 16;
/** Of a side's time in a round, what goes to calls as fast as they are answered; the rest is for paced ones. */
const fullShare = 0.7;
/** Of the whole time, for warming up. */
const warmUpShare = 0.1;
/** Calls per second and connection that h2load makes of a script with one per millisecond: its timer adds to each. */
const pacedPerConnection = 700;
/** A process that was just started is still collecting its garbage. */
const settleMs = 2_000;
/** Warm checks of the real sidecar process against the barest server that answers the same. */
export const sidecar = {
    name: 'sidecar',
    about: `warm checks from the sidecar's cache; reference: a bare @grpc/grpc-js server with the same messages`,
    async run({ seconds, life, note }) {
        await requireH2load();
        const api = life.open('API', await FakeApi.start(), (a) => a.stop());
        api.states.set(customerId, entitlementsOf(1, 120));
        const folder = life.open('folder', await mkdtemp(join(tmpdir(), 'tollgate-bench-')), (path) => rm(path, { recursive: true }));
        const subject = await startSidecar(life, api);
        const idle = startReference(life, {});
        await new Promise((resolve) => setTimeout(resolve, settleMs));
        const start = startComparisons(subject, await idle);
        const answers = {};
        for (const call of calls)
            answers[call.method] = await callOnce(subject, call);
        const reference = await startReference(life, answers);
        const comparisons = [];
        for (const call of calls) {
            if (!answers[call.method].equals(await callOnce(reference, call)))
                throw wrong('The reference answers other bytes than the sidecar');
            comparisons.push(...(await compareCall({ call, subject, reference, folder, seconds: seconds / calls.length, note })));
        }
        return [...comparisons, ...start];
    },
};
/** Time to be ready and memory when idle, measured once: a spread would take many starts. */
function startComparisons(subject, reference) {
    const once = (name, unit, of) => ({
        name,
        subject: of(subject),
        reference: of(reference),
        ratio: of(subject) / of(reference),
        unit,
        spread: 0,
    });
    return [
        once('sidecar-ready', 'ms', (server) => server.readyMs),
        once('sidecar-idle-memory', 'MB', (server) => server.residentMegabytes()),
    ];
}
async function compareCall({ call, subject, reference, folder, seconds, note }) {
    const definition = definitionOf(call);
    const requestFile = join(folder, `${call.method}.bin`);
    await writeFile(requestFile, frame(definition.requestSerialize(call.request)));
    const answer = await callOnce(reference, call);
    const target = ({ ports }) => ({
        url: `http://127.0.0.1:${ports.grpcPort}${definition.path}`,
        requestFile,
        answerBytes: frame(answer).length,
    });
    const hitsBefore = await countedHits(subject);
    let sent = 0;
    const full = (server, count) => {
        if (server === subject)
            sent += count;
        return loadFully(target(server), count);
    };
    const sideSeconds = (seconds * (1 - warmUpShare)) / rounds / 2;
    const pacedCalls = Math.ceil(sideSeconds * (1 - fullShare) * pacedPerConnection);
    const paced = (server) => {
        if (server === subject)
            sent += pacedCalls * connections;
        return loadPaced(target(server), pacedCalls, folder);
    };
    /** Answers what the server does in the time of a round. */
    const warmUp = async (server) => {
        const first = await full(server, 2_000);
        const warm = await full(server, Math.ceil(first * seconds * (warmUpShare / 2)));
        return Math.ceil(warm * sideSeconds * fullShare);
    };
    const side = (server, count) => async () => {
        const cpuBefore = await server.cpuMicroseconds();
        const rate = await full(server, count);
        const cpu = ((await server.cpuMicroseconds()) - cpuBefore) / count;
        return { rate, cpu, ...(await paced(server)) };
    };
    const counts = { subject: await warmUp(subject), reference: await warmUp(reference) };
    note(`${call.method}: ${connections} connections x ${streams} streams; answers of ${answer.length} bytes; up to ${rounds} rounds`);
    const name = call.method === 'GetMeteredEntitlement' ? 'sidecar' : 'sidecar-boolean';
    const comparisons = await compare({
        subject: side(subject, counts.subject),
        reference: side(reference, counts.reference),
        measures: {
            rate: { name, unit: 'calls/s' },
            cpu: { name: `${name}-cpu`, unit: 'µs of CPU/call' },
            p50: { name: `${name}-p50`, unit: 'µs' },
            p99: { name: `${name}-p99`, unit: 'µs' },
        },
        rounds,
        seconds: seconds * (1 - warmUpShare),
        onRound: (round, { rate }, { rate: bare }) => note(`round ${round}: ${Math.round(rate)} and ${Math.round(bare)} calls/s`),
    });
    const hits = (await countedHits(subject)) - hitsBefore;
    if (hits !== sent)
        throw wrong(`${sent} calls were made, but the sidecar answered ${hits} from its cache`);
    return comparisons;
}
//# sourceMappingURL=sidecar.js.map