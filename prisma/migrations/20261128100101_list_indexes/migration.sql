-- What lists and shared reads of related records look up by.
CREATE INDEX "package_version_environment_id_base_plan_version_id_idx" ON "package_version"("environment_id", "base_plan_version_id");
CREATE INDEX "customer_environment_id_coupon_id_idx" ON "customer"("environment_id", "coupon_id");
CREATE INDEX "subscription_environment_id_created_at_id_idx" ON "subscription"("environment_id", "created_at", "id");
CREATE INDEX "subscription_environment_id_plan_version_id_idx" ON "subscription"("environment_id", "plan_version_id");
CREATE INDEX "subscription_addon_environment_id_addon_version_id_idx" ON "subscription_addon"("environment_id", "addon_version_id");
