var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, ObjectType, Query, Resolver } from 'type-graphql';
let SdkConfiguration = class SdkConfiguration {
    isWidgetWatermarkEnabled;
    sentryDsn;
    showWatermark;
};
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], SdkConfiguration.prototype, "isWidgetWatermarkEnabled", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Where SDKs report their own errors; null: nowhere.' }),
    __metadata("design:type", Object)
], SdkConfiguration.prototype, "sentryDsn", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], SdkConfiguration.prototype, "showWatermark", void 0);
SdkConfiguration = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What SDKs ask for when they start.' })
], SdkConfiguration);
export { SdkConfiguration };
let ConfigurationResolver = class ConfigurationResolver {
    sdkConfiguration() {
        return { isWidgetWatermarkEnabled: false, sentryDsn: null, showWatermark: false };
    }
};
__decorate([
    Query(() => SdkConfiguration, { nullable: true, description: 'What SDKs ask for when they start.' }),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", []),
    __metadata("design:returntype", SdkConfiguration)
], ConfigurationResolver.prototype, "sdkConfiguration", null);
ConfigurationResolver = __decorate([
    Resolver()
], ConfigurationResolver);
export { ConfigurationResolver };
//# sourceMappingURL=configuration.resolver.js.map