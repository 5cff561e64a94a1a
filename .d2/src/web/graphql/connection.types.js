var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Int, ObjectType } from 'type-graphql';
import { ConnectionCursor } from './scalars.js';
let PageInfo = class PageInfo {
    endCursor;
    hasNextPage;
    hasPreviousPage;
    startCursor;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Of the last row of the page.' }),
    __metadata("design:type", Object)
], PageInfo.prototype, "endCursor", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], PageInfo.prototype, "hasNextPage", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], PageInfo.prototype, "hasPreviousPage", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Of the first row of the page.' }),
    __metadata("design:type", Object)
], PageInfo.prototype, "startCursor", void 0);
PageInfo = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Where a page lies in its list.' })
], PageInfo);
export { PageInfo };
/** The two types by which a page of a list is answered: `<name>Connection` and `<name>Edge`. */
export function connectionType(name, node, what) {
    let EdgeType = class EdgeType {
        node;
        cursor;
    };
    __decorate([
        Field(() => node),
        __metadata("design:type", Object)
    ], EdgeType.prototype, "node", void 0);
    __decorate([
        Field(() => ConnectionCursor),
        __metadata("design:type", String)
    ], EdgeType.prototype, "cursor", void 0);
    EdgeType = __decorate([
        ObjectType(`${name}Edge`, { simpleResolvers: true, description: `One of ${what}, and its place in the list.` })
    ], EdgeType);
    let ConnectionType = class ConnectionType {
        edges;
        pageInfo;
        totalCount;
    };
    __decorate([
        Field(() => [EdgeType], { nullable: true }),
        __metadata("design:type", Array)
    ], ConnectionType.prototype, "edges", void 0);
    __decorate([
        Field(() => PageInfo),
        __metadata("design:type", PageInfo)
    ], ConnectionType.prototype, "pageInfo", void 0);
    __decorate([
        Field(() => Int, { description: 'Of all pages.' }),
        __metadata("design:type", Object)
    ], ConnectionType.prototype, "totalCount", void 0);
    ConnectionType = __decorate([
        ObjectType(`${name}Connection`, { simpleResolvers: true, description: `A page of ${what}.` })
    ], ConnectionType);
    return ConnectionType;
}
export function toConnection({ rows, ...page }, toNode) {
    return {
        edges: rows.map(({ cursor, item }) => ({ cursor, node: toNode(item) })),
        pageInfo: {
            startCursor: rows[0]?.cursor ?? null,
            endCursor: rows.at(-1)?.cursor ?? null,
            hasNextPage: page.hasNextPage,
            hasPreviousPage: page.hasPreviousPage,
        },
        totalCount: page.totalCount,
    };
}
//# sourceMappingURL=connection.types.js.map