import { type ClassType, Field, Int, ObjectType } from 'type-graphql'
import type { Page } from '../../../platform/list/request.js'
import { ConnectionCursor } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'Where a page lies in its list.' })
export class PageInfo {
  @Field(() => String, { nullable: true, description: 'Of the last row of the page.' })
  endCursor!: string | null

  @Field(() => Boolean, { nullable: true })
  hasNextPage!: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasPreviousPage!: boolean | null

  @Field(() => String, { nullable: true, description: 'Of the first row of the page.' })
  startCursor!: string | null
}

interface Edge<Node> {
  node: Node
  cursor: string
}

interface RelayConnection<Node> {
  edges: Edge<Node>[]
  pageInfo: PageInfo
  totalCount: Page<Node>['totalCount']
}

/** The two types by which a page of a list is answered: `<name>Connection` and `<name>Edge`. */
export function connectionType<Node extends object>(name: string, node: ClassType<Node>, what: string): ClassType<RelayConnection<Node>> {
  @ObjectType(`${name}Edge`, { simpleResolvers: true, description: `One of ${what}, and its place in the list.` })
  class EdgeType implements Edge<Node> {
    @Field(() => node)
    node!: Node

    @Field(() => ConnectionCursor)
    cursor!: string
  }

  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: `A page of ${what}.` })
  class ConnectionType implements RelayConnection<Node> {
    @Field(() => [EdgeType], { nullable: true })
    edges!: EdgeType[]

    @Field(() => PageInfo)
    pageInfo!: PageInfo

    @Field(() => Int, { description: 'Of all pages.' })
    totalCount!: Page<Node>['totalCount']
  }
  return ConnectionType
}

export function toConnection<T, Node>({ rows, ...page }: Page<T>, toNode: (item: T) => Node): RelayConnection<Node> {
  return {
    edges: rows.map(({ cursor, item }) => ({ cursor, node: toNode(item) })),
    pageInfo: {
      startCursor: rows[0]?.cursor ?? null,
      endCursor: rows.at(-1)?.cursor ?? null,
      hasNextPage: page.hasNextPage,
      hasPreviousPage: page.hasPreviousPage,
    },
    totalCount: page.totalCount,
  }
}
