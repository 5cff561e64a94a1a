import { readFileSync } from 'node:fs';
import { expect } from 'chai';
/** The rules that proto linters share (names, packages, zero values), and our own: who reads the interface is told what it means. */
const path = 'service/sidecar/v1/sidecar.proto';
const lines = readFileSync(`proto/${path}`, 'utf8').split('\n');
function statements() {
    const found = [];
    const open = [];
    for (const [index, line] of lines.entries()) {
        const text = line.replace(/\/\/.*/, '').trim();
        if (text === '')
            continue;
        if (text !== '}')
            found.push({ line: index + 1, text, inside: [...open] });
        const opened = /^(message|enum|service|oneof) (\w+) \{(\})?$/.exec(text);
        if (opened && !opened[3])
            open.push({ kind: opened[1], name: opened[2] });
        if (text === '}')
            open.pop();
    }
    return found;
}
const all = statements();
const in_ = (kind) => all.filter(({ inside }) => inside.at(-1)?.kind === kind);
const upperSnake = (name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
const isCommented = (line) => /^\s*\/\//.test(lines[line - 2] ?? '');
describe('style of the published interface', () => {
    it('is proto3, in the folder that its package names', () => {
        expect(lines[0]).to.equal('syntax = "proto3";');
        expect(lines).to.include(`package ${path.split('/').slice(0, -1).join('.')};`);
    });
    it('names messages, enums, services and methods in PascalCase, fields in lower_snake_case', () => {
        for (const { text, line } of all) {
            const declared = /^(?:message|enum|service|rpc) (\w+)/.exec(text)?.[1];
            if (declared)
                expect(declared, `line ${line}`).to.match(/^([A-Z][a-z0-9]*)+$/);
        }
        for (const { text, line } of [...in_('message'), ...in_('oneof')]) {
            const field = /(\w+) = \d+/.exec(text)?.[1];
            if (field)
                expect(field, `line ${line}`).to.match(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
        }
    });
    it('begins each enum with UNSPECIFIED as 0, and each value with the name of its enum', () => {
        const seen = new Set();
        for (const { text, line, inside } of in_('enum')) {
            const { name } = inside.at(-1);
            expect(text, `line ${line}`).to.match(new RegExp(`^${upperSnake(name)}_`));
            if (!seen.has(name))
                expect(text, `line ${line}`).to.equal(`${upperSnake(name)}_UNSPECIFIED = 0;`);
            seen.add(name);
        }
        expect(seen.size).to.be.at.least(5);
    });
    it('gives every method a request and a response of its own, without streams', () => {
        for (const { text, line } of in_('service')) {
            const [, method, request, response] = /^rpc (\w+)\((\w+)\) returns \((\w+)\);$/.exec(text) ?? [];
            expect([request, response], `line ${line}`).to.deep.equal([`${method}Request`, `${method}Response`]);
        }
    });
    it('gives no number twice', () => {
        const numbers = new Map();
        for (const { text, line, inside } of all) {
            const number = /= (\d+)( \[.*\])?;$/.exec(text)?.[1];
            const owner = inside.find(({ kind }) => kind === 'message' || kind === 'enum')?.name;
            if (number === undefined || owner === undefined)
                continue;
            const used = numbers.get(owner) ?? new Set();
            expect(used.has(number), `line ${line}: ${number} again in ${owner}`).to.equal(false);
            numbers.set(owner, used.add(number));
        }
    });
    it('says what the service, its package and what is not told by its name mean', () => {
        expect(lines
            .slice(0, lines.findIndex((line) => line.startsWith('package')))
            .some((line) => line.startsWith('//'))).to.equal(true);
        const mustSay = [
            'usage_period_start',
            'has_soft_limit',
            'idempotency_key',
            'timestamp',
            'is_fallback',
            'requested_usage',
            'METER_TYPE_FLUCTUATING',
        ];
        for (const name of mustSay) {
            const found = all.filter(({ text }) => new RegExp(`\\b${name} = `).test(text));
            expect(found.some(({ line }) => isCommented(line)), name).to.equal(true);
        }
        for (const { text, line } of in_('service'))
            if (!/Get\w+Entitlement\(/.test(text))
                expect(isCommented(line), `line ${line}`).to.equal(true);
    });
    it('is not wider than a screen', () => {
        for (const [index, line] of lines.entries())
            expect(line.length, `line ${index + 1}`).to.be.at.most(130);
    });
});
//# sourceMappingURL=proto-style.test.js.map