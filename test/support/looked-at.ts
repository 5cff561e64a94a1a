import type pg from 'pg'
import type { Prisma, PrismaClient } from '../../src/platform/postgres.js'

interface Node {
  'Node Type': string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}

/** What a statement met on its way: rows that it looked at, also in vain, and the nodes of its plan. */
export interface Looked {
  rows: number
  plan: string
}

/** What each statement costs that a list asks by `$queryRaw`, in their order. */
export async function lookedAt(
  { pool, prisma }: { pool: pg.Pool; prisma: PrismaClient },
  ask: (prisma: PrismaClient) => Promise<unknown>,
): Promise<Looked[]> {
  const asked: Prisma.Sql[] = []
  await ask(
    new Proxy(prisma, {
      get: (target, key) =>
        key !== '$queryRaw'
          ? Reflect.get(target, key)
          : (sql: Prisma.Sql) => {
              asked.push(sql)
              return target.$queryRaw(sql)
            },
    }),
  )
  const looked: Looked[] = []
  for (const { text, values } of asked) looked.push(await lookedAtBy(pool, text, [...values]))
  return looked
}

/** The same of one statement, which is executed. */
export async function lookedAtBy(db: Pick<pg.Pool, 'query'>, text: string, values: unknown[] = []): Promise<Looked> {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Node }[] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
  const nodes = nodesOf(rows[0]!['QUERY PLAN'][0]!.Plan)
  return {
    rows: nodes.reduce((sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'], 0),
    plan: nodes.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`).join('\n'),
  }
}

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
