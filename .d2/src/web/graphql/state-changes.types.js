var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, ObjectType } from 'type-graphql';
import * as decimal from '../../kernel/decimal.js';
import { defineEnum } from './define-enum.js';
import { Entitlement, NextEntitlements, toHeldEntitlements } from './entitlement.types.js';
import * as enums from './enums.js';
export const StateChangeKind = defineEnum('StateChangeKind', 'What is told: what a customer or resource holds changed (STATE), one usage changed (USAGE), the customer is to be forgotten (PURGE), versions of the catalog changed (PACKAGE); or, once after a start with `after`: all that was missed has been told (CAUGHT_UP), or it is not known what was missed (GAP).', ['CAUGHT_UP', 'GAP', 'PACKAGE', 'PURGE', 'STATE', 'USAGE']);
let ChangedUsage = class ChangedUsage {
    currentUsage;
    featureId;
    updatedAt;
    usagePeriodEnd;
    usagePeriodStart;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], ChangedUsage.prototype, "currentUsage", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ChangedUsage.prototype, "featureId", void 0);
__decorate([
    Field(() => Float, { description: 'Version of the usage.' }),
    __metadata("design:type", Number)
], ChangedUsage.prototype, "updatedAt", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Exclusive; null: never reset.' }),
    __metadata("design:type", Object)
], ChangedUsage.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], ChangedUsage.prototype, "usagePeriodStart", void 0);
ChangedUsage = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A usage after its change. Its times are epoch milliseconds.' })
], ChangedUsage);
export { ChangedUsage };
let StateChange = class StateChange {
    accessDeniedReason;
    customerId;
    entitlements;
    id;
    kind;
    next;
    resourceId;
    usage;
    validUntil;
    version;
};
__decorate([
    Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true, description: 'Why nothing is held.' }),
    __metadata("design:type", Object)
], StateChange.prototype, "accessDeniedReason", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Null when the change is about no customer.' }),
    __metadata("design:type", Object)
], StateChange.prototype, "customerId", void 0);
__decorate([
    Field(() => [Entitlement], {
        nullable: true,
        description: 'STATE: everything that is held now. Null in a change that was missed: ask for the state when it is needed.',
    }),
    __metadata("design:type", Object)
], StateChange.prototype, "entitlements", void 0);
__decorate([
    Field(() => String, { description: 'To be sent as `after` when the connection comes back.' }),
    __metadata("design:type", String)
], StateChange.prototype, "id", void 0);
__decorate([
    Field(() => StateChangeKind),
    __metadata("design:type", Object)
], StateChange.prototype, "kind", void 0);
__decorate([
    Field(() => NextEntitlements, { nullable: true, description: 'STATE: what time alone makes of it next. Null: that is not known.' }),
    __metadata("design:type", Object)
], StateChange.prototype, "next", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], StateChange.prototype, "resourceId", void 0);
__decorate([
    Field(() => ChangedUsage, { nullable: true, description: 'USAGE: null in a change that was missed.' }),
    __metadata("design:type", Object)
], StateChange.prototype, "usage", void 0);
__decorate([
    Field(() => Float, {
        nullable: true,
        description: 'STATE: epoch milliseconds, from which on time alone may have changed what is held. Null: no such instant is known.',
    }),
    __metadata("design:type", Object)
], StateChange.prototype, "validUntil", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Version of the state that the change made: epoch milliseconds.' }),
    __metadata("design:type", Object)
], StateChange.prototype, "version", void 0);
StateChange = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'A change of what customers hold, with its place among the changes of the environment.',
    })
], StateChange);
export { StateChange };
const kinds = { entitlements: 'STATE', usage: 'USAGE', purge: 'PURGE', package: 'PACKAGE' };
const nothing = {
    accessDeniedReason: null,
    customerId: null,
    entitlements: null,
    next: null,
    resourceId: null,
    usage: null,
    validUntil: null,
    version: null,
};
/** `state`: what is held after a change that happens now and whose message does not say. */
export function toStateChange(event, state, now) {
    if ('end' in event)
        return { ...nothing, id: event.end.position, kind: event.end.isGap ? 'GAP' : 'CAUGHT_UP' };
    if ('missed' in event) {
        const { position, kind, customerId, resourceId, version } = event.missed;
        return { ...nothing, id: position, kind: kinds[kind], customerId: customerId || null, resourceId, version };
    }
    const { position = '', kind, customerId, resourceId = null, version, usage } = event.live;
    const about = { ...nothing, id: position, kind: kinds[kind], customerId: customerId || null, resourceId, version };
    if (kind === 'usage' && usage)
        return { ...about, usage: toChangedUsage(usage) };
    if (state === null)
        return about;
    return { ...about, ...toHeldEntitlements(state, now) };
}
function toChangedUsage({ featureId, usage }) {
    return {
        currentUsage: decimal.toNumber(decimal.max(usage.currentUsage, decimal.zero)),
        featureId,
        updatedAt: usage.updatedAt,
        usagePeriodEnd: usage.periodEnd,
        usagePeriodStart: usage.periodStart,
    };
}
//# sourceMappingURL=state-changes.types.js.map