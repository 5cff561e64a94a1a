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
import { Json } from './scalars.js';
let CatalogFieldChange = class CatalogFieldChange {
    from;
    path;
    to;
};
__decorate([
    Field(() => Json, { nullable: true, description: 'Null: there was nothing.' }),
    __metadata("design:type", Object)
], CatalogFieldChange.prototype, "from", void 0);
__decorate([
    Field(() => String, { description: 'The place in the definition, such as entitlements["seats"].limit.' }),
    __metadata("design:type", String)
], CatalogFieldChange.prototype, "path", void 0);
__decorate([
    Field(() => Json, { nullable: true, description: 'Null: there is nothing any more.' }),
    __metadata("design:type", Object)
], CatalogFieldChange.prototype, "to", void 0);
CatalogFieldChange = __decorate([
    ObjectType({ simpleResolvers: true, description: 'One field that applying a catalog document changes.' })
], CatalogFieldChange);
export { CatalogFieldChange };
let CatalogChange = class CatalogChange {
    action;
    fields;
    kind;
    refId;
};
__decorate([
    Field(() => enums.CatalogAction),
    __metadata("design:type", String)
], CatalogChange.prototype, "action", void 0);
__decorate([
    Field(() => [CatalogFieldChange], { description: 'What is different; empty for create and archive.' }),
    __metadata("design:type", Array)
], CatalogChange.prototype, "fields", void 0);
__decorate([
    Field(() => enums.CatalogKind),
    __metadata("design:type", String)
], CatalogChange.prototype, "kind", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CatalogChange.prototype, "refId", void 0);
CatalogChange = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What applying a catalog document does, or would do, to one item.' })
], CatalogChange);
export { CatalogChange };
//# sourceMappingURL=catalog.types.js.map