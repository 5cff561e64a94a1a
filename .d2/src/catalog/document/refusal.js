/** Why a catalog document is refused. */
import { Problem } from '../../kernel/problem.js';
import { join } from './document-path.js';
/** The message holds the first few problems, for people; `details.problems` all of them. */
export function catalogRefused(problems) {
    const shown = problems.slice(0, 5).map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
    const more = problems.length > shown.length ? ` … and ${problems.length - shown.length} more` : '';
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    return new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', `The catalog has ${count}: ${shown.join('; ')}${more}`, {
        details: { problems },
    });
}
/** Definitions that take the refId of an archived one and are something else than it was: its holders would be left with a mix of both. */
export function checkRevived(wanted, archived) {
    return [
        ...differences('features', wanted.features, archived.features, ['type', 'meter']),
        ...differences('plans', wanted.plans, archived.plans, ['product']),
        ...differences('addons', wanted.addons, archived.addons, ['product']),
    ];
}
function differences(section, wanted, archived, keys) {
    const before = new Map(archived.map((definition) => [definition.refId, definition]));
    return wanted.flatMap((definition) => {
        const was = before.get(definition.refId);
        if (!was)
            return [];
        const place = `${section}[${JSON.stringify(definition.refId)}]`;
        return keys
            .filter((key) => was[key] !== definition[key])
            .map((key) => ({ path: join(place, key), message: `never changes: it was ${was[key]} when this was archived; choose another refId` }));
    });
}
//# sourceMappingURL=refusal.js.map