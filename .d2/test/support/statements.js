import pg from 'pg';
/** Every statement that this process sends to PostgreSQL until it is stopped. */
export function countStatements() {
    const texts = [];
    const { query } = pg.Client.prototype;
    // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks, streams and promises
    pg.Client.prototype.query = function (...args) {
        texts.push(typeof args[0] === 'string' ? args[0] : String(args[0]?.text));
        return query.apply(this, args);
    };
    return {
        texts,
        stop: () => {
            pg.Client.prototype.query = query;
        },
    };
}
//# sourceMappingURL=statements.js.map