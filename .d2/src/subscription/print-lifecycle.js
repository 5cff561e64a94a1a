// `npm run -s lifecycle`: states and triggers with what happens, from the table that the code uses, as Markdown.
import { outcome, triggers } from './rules/lifecycle.js';
import { subscriptionStatuses } from './rules/subscription.js';
function describe(found) {
    if ('ignored' in found)
        return 'nothing';
    if ('refused' in found)
        return `refused: ${found.refused}`;
    return found.reason ? `${found.to} (${found.reason})` : found.to;
}
const rows = [
    ['trigger', ...subscriptionStatuses],
    ...triggers.map((trigger) => [trigger, ...subscriptionStatuses.map((status) => describe(outcome(status, trigger)))]),
];
const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
const [head, ...body] = rows.map(line);
process.stdout.write(`${[head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n')}\n`);
//# sourceMappingURL=print-lifecycle.js.map