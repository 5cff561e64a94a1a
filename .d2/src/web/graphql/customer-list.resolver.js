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
import { connectionType, toConnection } from './connection.types.js';
import { Customer, toCustomer } from './customer.types.js';
import { CustomerFilter } from './filter.inputs.js';
import { CursorPaging, CustomerSort } from './list.inputs.js';
const CustomerConnection = connectionType('Customer', Customer, 'customers');
let CustomerListResolver = class CustomerListResolver {
    async customers(filter, paging, sorting, { app, identity }) {
        return toConnection(await app.customers.list(identity.environmentId, { filter, paging, sorting }), toCustomer);
    }
};
__decorate([
    Query(() => CustomerConnection, {
        description: 'The customers of the environment, the newest first. Archived ones are hidden, unless the filter asks about deletedAt.',
    }),
    __param(0, Arg('filter', () => CustomerFilter, { nullable: true, description: 'Which ones.' })),
    __param(1, Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' })),
    __param(2, Arg('sorting', () => [CustomerSort], { nullable: true, description: 'In which order.' })),
    __param(3, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object, Object]),
    __metadata("design:returntype", Promise)
], CustomerListResolver.prototype, "customers", null);
CustomerListResolver = __decorate([
    Resolver()
], CustomerListResolver);
export { CustomerListResolver };
//# sourceMappingURL=customer-list.resolver.js.map