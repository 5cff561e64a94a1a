var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
var __param = (this && this.__param) || function (paramIndex, decorator) {
    return function (target, key) { decorator(target, key, paramIndex); }
};
import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { productColumns } from '../../catalog/records/list-columns.js';
import { readJsonFilter } from '../../platform/list/json-filter.js';
import { connectionType, toConnection } from './connection.types.js';
import { CursorPaging } from './list.inputs.js';
import { Product, toProduct } from './package.types.js';
import { Json } from './scalars.js';
const ProductConnection = connectionType('Product', Product, 'products');
let ProductListResolver = class ProductListResolver {
    async products(filter, paging, { app, identity }) {
        const request = { filter: readJsonFilter(filter ?? {}, productColumns), paging };
        return toConnection(await app.offers.listProducts(identity.environmentId, request), toProduct);
    }
};
__decorate([
    Query(() => ProductConnection, { description: 'The products of the catalog, the newest first.' }),
    __param(0, Arg('filter', () => Json, {
        nullable: true,
        description: 'Which ones, such as {"refId": {"eq": "acme-cloud"}}: fields of a product with comparisons, and, or.',
    })),
    __param(1, Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' })),
    __param(2, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object]),
    __metadata("design:returntype", Promise)
], ProductListResolver.prototype, "products", null);
ProductListResolver = __decorate([
    Resolver()
], ProductListResolver);
export { ProductListResolver };
//# sourceMappingURL=product.resolver.js.map