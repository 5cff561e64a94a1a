import { join, sep } from 'node:path';
/** Splits the arguments of `npm test -- …`: paths come first, everything from the first option on is mocha's. */
export function parseArguments(args) {
    const firstOption = args.findIndex((arg) => arg.startsWith('-'));
    const end = firstOption === -1 ? args.length : firstOption;
    return { filters: args.slice(0, end).map(normalise), mochaArguments: args.slice(end) };
}
const normalise = (path) => path
    .replace(/^\.\//, '')
    .replace(/^(dist\/)?test(\/|$)/, '')
    .replace(/\.js$/, '.ts')
    .replace(/\/+$/, '');
/** The test sources (relative to test/) that the filters name; a filter is a file, a folder, or the beginning of a file's name. */
export function selectFiles(sources, filters) {
    const tests = sources.map((source) => source.split(sep).join('/')).filter((source) => source.endsWith('.test.ts'));
    return tests.filter((test) => filters.length === 0 || filters.some((filter) => filter === '' || test.startsWith(filter))).sort();
}
/** Unit tests do no IO, so a run of nothing else starts no services. */
export const needServices = (files) => files.some((file) => !file.startsWith('unit/'));
/** Where the compiler puts a test. */
export const compiledFile = (root, source) => join(root, 'dist', 'test', source.replace(/\.ts$/, '.js'));
//# sourceMappingURL=selection.js.map