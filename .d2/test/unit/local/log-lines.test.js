import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { renderLine } from '../../../src/local/log-lines.js';
const render = (line) => stripVTControlCharacters(renderLine('web', 1, line, { isTerminal: true, nameWidth: 7 }));
describe('local/log-lines', () => {
    it('keeps lines as they are when nobody watches, so that programs can read them', () => {
        const line = '{"level":30,"time":1,"msg":"listening"}';
        expect(renderLine('web', 1, line, { isTerminal: false, nameWidth: 7 })).to.equal(`web     | ${line}`);
    });
    it('shows time, level, message and further fields on a terminal', () => {
        const time = new Date(2026, 0, 2, 3, 4, 5, 6).getTime();
        const line = JSON.stringify({ level: 40, time, pid: 7, hostname: 'h', msg: 'slow', tookMs: 12, queue: { name: 'usage' } });
        expect(render(line)).to.equal('web     | 03:04:05.006 WARN  slow tookMs=12 queue={"name":"usage"}');
    });
    it('understands levels written as words and times written as text', () => {
        const time = new Date(2026, 0, 2, 3, 4, 5, 6).toISOString();
        expect(render(JSON.stringify({ level: 'info', time, msg: 'hello' }))).to.equal('web     | 03:04:05.006 INFO  hello');
    });
    it('prints the stack of an error under its line, each line with the prefix', () => {
        const line = JSON.stringify({ level: 50, msg: 'failed', err: { message: 'no', stack: 'Error: no\n    at here' } });
        expect(render(line)).to.equal('web     | ERROR failed\nweb     | Error: no\nweb     |     at here');
    });
    for (const line of ['plain text', '{broken', '{"no":"level"}'])
        it(`leaves alone what is not a log record: ${line}`, () => {
            expect(render(line)).to.equal(`web     | ${line}`);
        });
});
//# sourceMappingURL=log-lines.test.js.map