import pg from 'pg'

/** Every statement that this process sends to PostgreSQL until it is stopped. */
export function countStatements(): { texts: string[]; stop(): void } {
  const texts: string[] = []
  const { query } = pg.Client.prototype
  // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks, streams and promises
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]): any {
    texts.push(typeof args[0] === 'string' ? args[0] : String(args[0]?.text))
    return query.apply(this, args as never)
  }
  return {
    texts,
    stop: () => {
      pg.Client.prototype.query = query
    },
  }
}
