// A semicolon inside any of these does not end a statement. Words are taken whole so that `a$b$` is not read as a dollar quote. A doubled
// quote needs no rule: it reads as two literals side by side, except in E'' strings, where a backslash hides the quote after it.
const tokens = new RegExp([
    /(?<comment>--[^\n]*|\/\*)/,
    /[eE]'(?:[^'\\]|''|\\[\s\S])*'?|'[^']*'?|"[^"]*"?/,
    /\$(?<tag>(?:[A-Za-z_\x80-\uffff][\w\x80-\uffff]*)?)\$[\s\S]*?\$\k<tag>\$/,
    /[\w\x80-\uffff][\w$\x80-\uffff]*/,
    /(?<end>;)/,
    /(?<blank>\s+)/,
    /[\s\S]/,
]
    .map((token) => token.source)
    .join('|'), 'y');
/** Where the block comment that opens at `from` ends. PostgreSQL nests them. */
function endOfBlockComment(script, from) {
    const edges = /\/\*|\*\//g;
    edges.lastIndex = from;
    for (let depth = 0, edge = edges.exec(script); edge; edge = edges.exec(script)) {
        depth += edge[0] === '/*' ? 1 : -1;
        if (depth === 0)
            return edges.lastIndex;
    }
    return script.length;
}
/**
 * The statements of a PostgreSQL script, each with the comments before it and without its semicolon; what is only comment is left out.
 * Function bodies written between `BEGIN ATOMIC` and `END` are not known: quote them with `$$`.
 */
export function splitStatements(script) {
    const statements = [];
    let start = 0;
    let hasCode = false;
    const finish = (end) => {
        if (hasCode)
            statements.push({ text: script.slice(start, end), start });
        hasCode = false;
        start = end + 1;
    };
    for (let at = 0; at < script.length; at = tokens.lastIndex) {
        tokens.lastIndex = at;
        const token = tokens.exec(script)?.groups ?? {};
        if (token.end)
            finish(at);
        else if (token.comment === '/*')
            tokens.lastIndex = endOfBlockComment(script, at);
        else if (!token.comment && !token.blank)
            hasCode = true;
    }
    finish(script.length);
    return statements;
}
//# sourceMappingURL=sql-script.js.map