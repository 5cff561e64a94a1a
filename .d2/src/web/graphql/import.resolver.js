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
import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { fromImportCustomerBulkInput, ImportCustomerBulkInput } from './customer.inputs.js';
import * as enums from './enums.js';
import { codeOfStoredReason } from './errors.js';
import { ImportItem, ImportJob, ImportJobInput, toImportJob } from './import.types.js';
let ImportResolver = class ImportResolver {
    async importJob({ id }, { app, identity }) {
        const job = await app.imports.find(identity.environmentId, id);
        return job && toImportJob(job);
    }
    importCustomersBulk(input, { app, identity }) {
        return app.imports.start(identity.environmentId, 'CUSTOMERS', fromImportCustomerBulkInput(input));
    }
    async items({ id }, { app, identity }, first, after, status) {
        const items = await app.imports.items(identity.environmentId, id, { status, after: after ?? undefined, limit: first ?? undefined });
        return items.map(({ position, errorReason, ...item }) => ({
            ...item,
            index: position,
            errorCode: errorReason && codeOfStoredReason(errorReason),
        }));
    }
};
__decorate([
    Query(() => ImportJob, {
        nullable: true,
        description: 'How far an import is, and what became of each record; null when there is none of that id.',
    }),
    __param(0, Arg('input', () => ImportJobInput, { description: 'Which import.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ImportJobInput, Object]),
    __metadata("design:returntype", Promise)
], ImportResolver.prototype, "importJob", null);
__decorate([
    Mutation(() => String, {
        nullable: true,
        description: 'Imports customers in the background, each on its own. Answers the id that `importJob` tells the outcomes of.',
    }),
    __param(0, Arg('input', () => ImportCustomerBulkInput, { description: 'The customers.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ImportCustomerBulkInput, Object]),
    __metadata("design:returntype", void 0)
], ImportResolver.prototype, "importCustomersBulk", null);
__decorate([
    FieldResolver(() => [ImportItem], { description: 'The outcomes in the order of the request.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __param(2, Arg('first', () => Int, { nullable: true, description: 'How many; at most 1,000, default 100.' })),
    __param(3, Arg('after', () => Int, { nullable: true, description: 'Those after this index; default: from the first.' })),
    __param(4, Arg('status', () => enums.ImportItemStatus, { nullable: true, description: 'Only those; default: all.' })),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ImportJob, Object, Object, Object, Object]),
    __metadata("design:returntype", Promise)
], ImportResolver.prototype, "items", null);
ImportResolver = __decorate([
    Resolver(() => ImportJob)
], ImportResolver);
export { ImportResolver };
//# sourceMappingURL=import.resolver.js.map