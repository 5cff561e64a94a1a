/** The requests of a page in their order: a `graphql` block, a `json` block of variables and a `json` block of the answer. */
export function readRecipes(markdown) {
    const recipes = [];
    let title = '';
    let open = null;
    for (const [, heading, language, text] of markdown.matchAll(/^##+ (.+)$|^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)) {
        if (heading)
            title = heading;
        else if (language === 'graphql') {
            if (open)
                throw new Error(`${title}: a request without its answer`);
            open = { query: text };
        }
        else if (language === 'json' && open) {
            const value = JSON.parse(text);
            if (open.variables) {
                recipes.push({ title, query: open.query, variables: open.variables, response: value });
                open = null;
            }
            else
                open.variables = value;
        }
    }
    if (open)
        throw new Error(`${title}: a request without its answer`);
    return recipes;
}
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const id = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
/** An answer without what is different each time: times and ids that we make. */
export function withoutChance(value) {
    if (typeof value === 'string')
        return time.test(value) ? '(a time)' : id.test(value) ? '(an id)' : value;
    if (Array.isArray(value))
        return value.map(withoutChance);
    if (value === null || typeof value !== 'object')
        return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutChance(inner)]));
}
//# sourceMappingURL=recipes.js.map