var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, ObjectType } from 'type-graphql';
import * as enums from './enums.js';
/** Begins the description of each field that the contract has and Tollgate has nothing for; docs/unsupported-fields.md lists the same fields. */
export const alwaysNullNote = 'Always null: Tollgate has no such thing.';
/** A field of something that Tollgate does not have. Declared, because clients ask for it; never filled in. */
export function AlwaysNull(type) {
    return (prototype, property) => Field(type, { nullable: true, description: alwaysNullNote })(prototype, property);
}
let ExperimentInfo = class ExperimentInfo {
    groupName;
    groupType;
    id;
    name;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ExperimentInfo.prototype, "groupName", void 0);
__decorate([
    Field(() => enums.ExperimentGroupType),
    __metadata("design:type", Object)
], ExperimentInfo.prototype, "groupType", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ExperimentInfo.prototype, "id", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ExperimentInfo.prototype, "name", void 0);
ExperimentInfo = __decorate([
    ObjectType({ simpleResolvers: true, description: 'An experiment that a customer takes part in. There are none in Tollgate.' })
], ExperimentInfo);
export { ExperimentInfo };
//# sourceMappingURL=always-null.js.map