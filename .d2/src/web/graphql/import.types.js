var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import * as enums from './enums.js';
import { DateTime } from './scalars.js';
let ImportJobInput = class ImportJobInput {
    environmentId;
    id;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ImportJobInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'What the import was answered with.' }),
    __metadata("design:type", String)
], ImportJobInput.prototype, "id", void 0);
ImportJobInput = __decorate([
    InputType({ description: 'Which import.' })
], ImportJobInput);
export { ImportJobInput };
let ImportItem = class ImportItem {
    errorCode;
    errorMessage;
    index;
    refId;
    status;
};
__decorate([
    Field(() => String, { nullable: true, description: 'FAILED: the code that a mutation of this record would have answered.' }),
    __metadata("design:type", Object)
], ImportItem.prototype, "errorCode", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'FAILED: why.' }),
    __metadata("design:type", Object)
], ImportItem.prototype, "errorMessage", void 0);
__decorate([
    Field(() => Int, { description: 'Place in the request, from 0.' }),
    __metadata("design:type", Number)
], ImportItem.prototype, "index", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'DONE: the identifier of what was made or changed; made by us when none was given.' }),
    __metadata("design:type", Object)
], ImportItem.prototype, "refId", void 0);
__decorate([
    Field(() => enums.ImportItemStatus),
    __metadata("design:type", Object)
], ImportItem.prototype, "status", void 0);
ImportItem = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What became of one record of an import.' })
], ImportItem);
export { ImportItem };
let ImportJob = class ImportJob {
    createdAt;
    done;
    failed;
    finishedAt;
    id;
    total;
};
__decorate([
    Field(() => DateTime, { simple: true }),
    __metadata("design:type", Number)
], ImportJob.prototype, "createdAt", void 0);
__decorate([
    Field(() => Int, { simple: true, description: 'Records that were imported.' }),
    __metadata("design:type", Number)
], ImportJob.prototype, "done", void 0);
__decorate([
    Field(() => Int, { simple: true, description: 'Records that were refused.' }),
    __metadata("design:type", Number)
], ImportJob.prototype, "failed", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true, description: 'Null: some records are still to be imported.' }),
    __metadata("design:type", Object)
], ImportJob.prototype, "finishedAt", void 0);
__decorate([
    Field(() => String, { simple: true }),
    __metadata("design:type", String)
], ImportJob.prototype, "id", void 0);
__decorate([
    Field(() => Int, { simple: true, description: 'Records in the request.' }),
    __metadata("design:type", Number)
], ImportJob.prototype, "total", void 0);
ImportJob = __decorate([
    ObjectType({ description: 'An import of many records, worked off in the background. Readable until 30 days after its end.' })
], ImportJob);
export { ImportJob };
export function toImportJob({ createdAt, done, failed, finishedAt, id, total }) {
    return { createdAt, done, failed, finishedAt, id, total };
}
//# sourceMappingURL=import.types.js.map