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
import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { CatalogChange } from './catalog.types.js';
import { Json } from './scalars.js';
let CatalogResolver = class CatalogResolver {
    catalog({ app, identity }) {
        return app.catalog.export(identity.environmentId);
    }
    applyCatalog(input, dryRun, archiveMissing, { app, identity }) {
        return app.catalog.apply(identity.environmentId, input, { dryRun: dryRun ?? false, archiveMissing: archiveMissing ?? false });
    }
};
__decorate([
    Query(() => Json, { description: 'The catalog as one document: what `applyCatalog` takes.' }),
    __param(0, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", void 0)
], CatalogResolver.prototype, "catalog", null);
__decorate([
    Mutation(() => [CatalogChange], {
        description: 'Makes the catalog what the document says, all or nothing, and answers the difference. Safe to repeat: the second time nothing differs.',
    }),
    __param(0, Arg('input', () => Json, { description: 'The catalog document.' })),
    __param(1, Arg('dryRun', () => Boolean, { nullable: true, description: 'Only answer what would change.' })),
    __param(2, Arg('archiveMissing', () => Boolean, { nullable: true, description: 'Archive what the document leaves out; else it stays.' })),
    __param(3, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object, Object]),
    __metadata("design:returntype", void 0)
], CatalogResolver.prototype, "applyCatalog", null);
CatalogResolver = __decorate([
    Resolver()
], CatalogResolver);
export { CatalogResolver };
//# sourceMappingURL=catalog.resolver.js.map