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
import { Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { DateTime } from './scalars.js';
let PackageMigration = class PackageMigration {
    finishedAt;
    id;
    migrated;
    packageRefId;
    startedAt;
    total;
    versionNumber;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Null: some subscriptions are still to be moved.' }),
    __metadata("design:type", Object)
], PackageMigration.prototype, "finishedAt", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PackageMigration.prototype, "id", void 0);
__decorate([
    Field(() => Int, { description: 'Subscriptions that were moved.' }),
    __metadata("design:type", Number)
], PackageMigration.prototype, "migrated", void 0);
__decorate([
    Field(() => String, { description: 'The plan’s or add-on’s identifier in the catalog.' }),
    __metadata("design:type", String)
], PackageMigration.prototype, "packageRefId", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], PackageMigration.prototype, "startedAt", void 0);
__decorate([
    Field(() => Int, { description: 'Subscriptions that held an older version when the move began.' }),
    __metadata("design:type", Number)
], PackageMigration.prototype, "total", void 0);
__decorate([
    Field(() => Int),
    __metadata("design:type", Number)
], PackageMigration.prototype, "versionNumber", void 0);
PackageMigration = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'A version that was published for ALL_CUSTOMERS, and how far existing subscriptions have moved to it.',
    })
], PackageMigration);
export { PackageMigration };
let PackageMigrationResolver = class PackageMigrationResolver {
    packageMigrations({ app, identity }) {
        return app.packageMigrations.list(identity.environmentId);
    }
};
__decorate([
    Query(() => [PackageMigration], { description: 'Publications for ALL_CUSTOMERS, the newest first; at most 100.' }),
    __param(0, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", Promise)
], PackageMigrationResolver.prototype, "packageMigrations", null);
PackageMigrationResolver = __decorate([
    Resolver()
], PackageMigrationResolver);
export { PackageMigrationResolver };
//# sourceMappingURL=package-migration.resolver.js.map