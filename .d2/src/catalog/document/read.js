/** Reads one definition by its shape and says every problem in it, with its place. */
import { z } from 'zod';
import { suggestion } from '../../kernel/nearest.js';
import { isMap, join } from './document-path.js';
/**
 * `value` as its shape wants it, defaults filled in, or null when it cannot be read so. Every problem is found; a key that the shape does
 * not know is one, but does not stand in the way of the rest.
 */
export function read(shape, value, path, findings) {
    reportUnknownKeys(shape, value, path, findings.problems);
    const result = shape.safeParse(value);
    if (result.success)
        return result.data;
    for (const issue of result.error.issues)
        findings.problems.push({ path: at(path, issue.path), message: issue.message });
    findings.unread.push({ path, raw: value });
    return null;
}
function at(path, steps) {
    return steps.reduce((place, step) => (typeof step === 'number' ? `${place}[${step}]` : join(place, String(step))), path);
}
function reportUnknownKeys(shape, value, path, problems) {
    const inner = unwrap(shape);
    if (inner instanceof z.ZodArray && Array.isArray(value)) {
        for (const [index, element] of value.entries())
            reportUnknownKeys(inner.element, element, `${path}[${index}]`, problems);
    }
    if (inner instanceof z.ZodObject && isMap(value)) {
        const known = inner.shape;
        for (const [key, child] of Object.entries(value)) {
            if (Object.hasOwn(known, key))
                reportUnknownKeys(known[key], child, join(path, key), problems);
            else
                problems.push(unknownKey(path, key, Object.keys(known)));
        }
    }
}
export function unknownKey(path, key, known) {
    return { path: join(path, key), message: `is not a known key${suggestion(key, known)}` };
}
/** The schema inside optional, nullable and transformed ones. */
function unwrap(shape) {
    if (shape instanceof z.ZodPipe)
        return unwrap(shape.def.in);
    if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable)
        return unwrap(shape.def.innerType);
    return shape;
}
//# sourceMappingURL=read.js.map