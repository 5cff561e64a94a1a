import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
/** All imports of the TypeScript files in these folders. */
export function readImports(folders) {
    const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)));
    return files.filter((file) => file.endsWith('.ts')).flatMap((file) => importsOf(file, readFileSync(file, 'utf8')));
}
/** The imports and re-exports of one file, dynamic ones too. */
export function importsOf(file, text) {
    const from = file.replace(/\.ts$/, '');
    const statements = text.matchAll(/^(?:import|export)\b(\s+type\b(?!\s*,|\s+from))?(?:[^'";]*?\bfrom)?\s*'([^']+)'/gm);
    const dynamic = text.matchAll(/\bimport\(()\s*'([^']+)'\s*\)/g);
    const all = [
        ...[...statements].map((match) => ({ match, isDynamic: false })),
        ...[...dynamic].map((match) => ({ match, isDynamic: true })),
    ];
    return all.map(({ match: [, type, target], isDynamic }) => {
        const isPackage = !target.startsWith('.');
        const to = isPackage ? packageOf(target) : normalize(join(dirname(file), target)).replace(/\.js$/, '');
        return { from, to, isPackage, isTypeOnly: Boolean(type), isDynamic };
    });
}
function packageOf(specifier) {
    if (specifier.startsWith('node:'))
        return specifier;
    return specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
}
/** Files that import each other in a ring, as `a > b > a`; each ring once. */
export function findCycles(imports) {
    const targets = new Map();
    for (const { from, to, isPackage } of imports)
        if (!isPackage)
            targets.set(from, [...(targets.get(from) ?? []), to]);
    const cycles = [];
    const done = new Set();
    const path = [];
    const visit = (file) => {
        const start = path.indexOf(file);
        if (start !== -1) {
            cycles.push([...path.slice(start), file].join(' > '));
            return;
        }
        if (done.has(file))
            return;
        path.push(file);
        for (const target of targets.get(file) ?? [])
            visit(target);
        path.pop();
        done.add(file);
    };
    for (const file of targets.keys())
        visit(file);
    return cycles;
}
/** Everything that is loaded with `file`, and not only when it is needed: files of the project and packages. */
export function loadedBy(file, imports) {
    const loaded = new Set();
    const visit = (current) => {
        for (const { from, to, isPackage, isTypeOnly, isDynamic } of imports) {
            if (from !== current || isTypeOnly || isDynamic || loaded.has(to))
                continue;
            loaded.add(to);
            if (!isPackage)
                visit(to);
        }
    };
    visit(file);
    return loaded;
}
//# sourceMappingURL=imports.js.map