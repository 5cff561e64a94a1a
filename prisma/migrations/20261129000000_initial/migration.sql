-- CreateEnum
CREATE TYPE "api_key_kind" AS ENUM ('SERVER', 'CLIENT');

-- CreateEnum
CREATE TYPE "feature_type" AS ENUM ('BOOLEAN', 'NUMBER', 'ENUM');

-- CreateEnum
CREATE TYPE "meter_type" AS ENUM ('None', 'Fluctuating', 'Incremental');

-- CreateEnum
CREATE TYPE "meter_aggregation" AS ENUM ('COUNT', 'SUM', 'MAX', 'MIN', 'AVG', 'UNIQUE');

-- CreateEnum
CREATE TYPE "unit_rounding" AS ENUM ('UP', 'DOWN');

-- CreateEnum
CREATE TYPE "package_kind" AS ENUM ('PLAN', 'ADDON');

-- CreateEnum
CREATE TYPE "package_status" AS ENUM ('DRAFT', 'PUBLISHED', 'ARCHIVED');

-- CreateEnum
CREATE TYPE "pricing_type" AS ENUM ('FREE', 'PAID', 'CUSTOM');

-- CreateEnum
CREATE TYPE "trial_units" AS ENUM ('DAY', 'MONTH');

-- CreateEnum
CREATE TYPE "trial_end_behavior" AS ENUM ('CONVERT_TO_PAID', 'CANCEL_SUBSCRIPTION');

-- CreateEnum
CREATE TYPE "entitlement_behavior" AS ENUM ('Increment', 'Override');

-- CreateEnum
CREATE TYPE "reset_period" AS ENUM ('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR');

-- CreateEnum
CREATE TYPE "reset_rule" AS ENUM ('SubscriptionStart', 'StartOfTheMonth', 'EverySunday', 'EveryMonday', 'EveryTuesday', 'EveryWednesday', 'EveryThursday', 'EveryFriday', 'EverySaturday');

-- CreateEnum
CREATE TYPE "billing_model" AS ENUM ('FLAT_FEE', 'PER_UNIT', 'USAGE_BASED');

-- CreateEnum
CREATE TYPE "billing_period" AS ENUM ('MONTHLY', 'ANNUALLY');

-- CreateEnum
CREATE TYPE "tiers_mode" AS ENUM ('GRADUATED', 'VOLUME');

-- CreateEnum
CREATE TYPE "new_customer_setting" AS ENUM ('FREE_PLAN', 'TRIAL_PERIOD', 'PLAN_SELECTION');

-- CreateEnum
CREATE TYPE "end_setting" AS ENUM ('CANCEL_SUBSCRIPTION', 'DOWNGRADE_TO_FREE');

-- CreateEnum
CREATE TYPE "change_timing" AS ENUM ('IMMEDIATE', 'END_OF_BILLING_PERIOD');

-- CreateEnum
CREATE TYPE "usage_on_plan_change" AS ENUM ('ALWAYS_RESET', 'NEVER_RESET', 'BILLING_PERIOD_CHANGE');

-- CreateEnum
CREATE TYPE "coupon_type" AS ENUM ('PERCENTAGE', 'FIXED');

-- CreateEnum
CREATE TYPE "coupon_status" AS ENUM ('ACTIVE', 'ARCHIVED');

-- CreateEnum
CREATE TYPE "subscription_status" AS ENUM ('NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING', 'CANCELED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "subscription_cancel_reason" AS ENUM ('AutoCancellationRule', 'CancelledByBilling', 'CustomerArchived', 'DetachBilling', 'Expired', 'Immediate', 'PendingPaymentExpired', 'ScheduledCancellation', 'TrialConverted', 'TrialEnded', 'UpgradeOrDowngrade');

-- CreateEnum
CREATE TYPE "payment_collection" AS ENUM ('NOT_REQUIRED', 'PROCESSING', 'ACTION_REQUIRED', 'FAILED');

-- CreateEnum
CREATE TYPE "payment_collection_method" AS ENUM ('CHARGE', 'INVOICE', 'NONE');

-- CreateEnum
CREATE TYPE "promotional_period" AS ENUM ('CUSTOM', 'LIFETIME', 'ONE_MONTH', 'ONE_WEEK', 'ONE_YEAR', 'SIX_MONTH');

-- CreateEnum
CREATE TYPE "scheduled_update_type" AS ENUM ('AdditionalMetaData', 'Addon', 'BillingInfoMetadata', 'BillingPeriod', 'Coupon', 'Downgrade', 'MigrateToLatest', 'Plan', 'PriceOverride', 'RecurringCredits', 'UnitAmount');

-- CreateEnum
CREATE TYPE "scheduled_update_status" AS ENUM ('Scheduled', 'Done', 'Failed', 'Canceled', 'PendingPayment');

-- CreateEnum
CREATE TYPE "invoice_status" AS ENUM ('OPEN', 'PAID', 'CANCELED', 'FAILED');

-- CreateEnum
CREATE TYPE "invoice_reason" AS ENUM ('BILLING_CYCLE', 'MANUAL', 'MINIMUM_INVOICE_AMOUNT_EXCEEDED', 'OTHER', 'SUBSCRIPTION_CREATION', 'SUBSCRIPTION_UPDATE');

-- CreateEnum
CREATE TYPE "balance_entry_kind" AS ENUM ('CREDIT', 'WAITING', 'RELEASED', 'DROPPED', 'REVERSED', 'APPLIED', 'RETURNED');

-- CreateEnum
CREATE TYPE "billing_intent_kind" AS ENUM ('CREATE_INVOICE', 'COLLECT', 'VOID', 'REFUND');

-- CreateEnum
CREATE TYPE "billing_intent_state" AS ENUM ('WAITING', 'DONE', 'GIVEN_UP');

-- CreateEnum
CREATE TYPE "usage_update_behavior" AS ENUM ('DELTA', 'SET');

-- CreateEnum
CREATE TYPE "import_kind" AS ENUM ('CUSTOMERS', 'SUBSCRIPTIONS');

-- CreateEnum
CREATE TYPE "import_item_status" AS ENUM ('PENDING', 'DONE', 'FAILED');

-- CreateEnum
CREATE TYPE "webhook_endpoint_status" AS ENUM ('ACTIVE', 'PAUSED', 'DISABLED');

-- CreateEnum
CREATE TYPE "webhook_delivery_status" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- CreateEnum
CREATE TYPE "change_kind" AS ENUM ('entitlements', 'usage', 'purge', 'package');

-- CreateEnum
CREATE TYPE "audit_actor_kind" AS ENUM ('KEY', 'OPERATOR', 'SYSTEM');

-- CreateTable
CREATE TABLE "environment" (
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "is_test" BOOLEAN NOT NULL DEFAULT false,
    "has_persistent_cache" BOOLEAN NOT NULL DEFAULT false,
    "persistent_cache_queue_url" TEXT,
    "persistent_cache_since" TIMESTAMPTZ(3),
    "allows_unsigned_client_reads" BOOLEAN NOT NULL DEFAULT false,
    "test_clock" TIMESTAMPTZ(3),
    "catalog_version" BIGINT NOT NULL DEFAULT 0,
    "events_kept_since" TIMESTAMPTZ(3),
    "hears_events" BOOLEAN NOT NULL DEFAULT false,
    "watches_usage" BOOLEAN NOT NULL DEFAULT false,
    "signing_secret" BYTEA NOT NULL,
    "former_signing_secrets" BYTEA[] DEFAULT ARRAY[]::BYTEA[],
    "former_signing_secrets_expire_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "environment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_job" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" "import_kind" NOT NULL,
    "total" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "import_job_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "import_item" (
    "environment_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "status" "import_item_status" NOT NULL DEFAULT 'PENDING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "input" JSONB,
    "ref_id" TEXT,
    "error_reason" TEXT,
    "error_message" TEXT,

    CONSTRAINT "import_item_pkey" PRIMARY KEY ("environment_id","import_id","position")
);

-- CreateTable
CREATE TABLE "api_key" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" "api_key_kind" NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "hint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "feature" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "description" TEXT,
    "feature_type" "feature_type" NOT NULL,
    "meter_type" "meter_type" NOT NULL,
    "feature_units" TEXT,
    "feature_units_plural" TEXT,
    "enum_values" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "unit_divide" DECIMAL,
    "unit_rounding" "unit_rounding",
    "additional_meta_data" JSONB,
    "archived_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feature_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "meter" (
    "environment_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "aggregation" "meter_aggregation" NOT NULL,
    "field" TEXT,
    "filters" JSONB NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "meter_pkey" PRIMARY KEY ("environment_id","feature_id")
);

-- CreateTable
CREATE TABLE "meter_version" (
    "environment_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "aggregation" "meter_aggregation" NOT NULL,
    "field" TEXT,
    "filters" JSONB NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "meter_version_pkey" PRIMARY KEY ("environment_id","feature_id","version")
);

-- CreateTable
CREATE TABLE "product" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "description" TEXT,
    "new_customer_setting" "new_customer_setting" NOT NULL DEFAULT 'PLAN_SELECTION',
    "new_customer_plan_id" UUID,
    "end_setting" "end_setting" NOT NULL DEFAULT 'CANCEL_SUBSCRIPTION',
    "downgrade_plan_id" UUID,
    "downgrade_timing" "change_timing" NOT NULL DEFAULT 'IMMEDIATE',
    "cancellation_timing" "change_timing" NOT NULL DEFAULT 'IMMEDIATE',
    "usage_on_plan_change" "usage_on_plan_change" NOT NULL DEFAULT 'ALWAYS_RESET',
    "allows_multiple_subscriptions" BOOLEAN NOT NULL DEFAULT false,
    "additional_meta_data" JSONB,
    "archived_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "product_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "package" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "kind" "package_kind" NOT NULL,
    "product_id" UUID NOT NULL,
    "archived_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "package_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "package_version" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "package_id" UUID NOT NULL,
    "version_number" INTEGER NOT NULL,
    "status" "package_status" NOT NULL,
    "is_latest" BOOLEAN NOT NULL DEFAULT false,
    "display_name" TEXT NOT NULL,
    "description" TEXT,
    "pricing_type" "pricing_type" NOT NULL,
    "base_plan_version_id" UUID,
    "trial_duration" INTEGER,
    "trial_units" "trial_units",
    "trial_end_behavior" "trial_end_behavior",
    "max_quantity" INTEGER,
    "additional_meta_data" JSONB,
    "published_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "package_version_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "package_entitlement" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "package_version_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "usage_limit" DECIMAL,
    "has_unlimited_usage" BOOLEAN NOT NULL DEFAULT false,
    "has_soft_limit" BOOLEAN NOT NULL DEFAULT false,
    "enum_values" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "behavior" "entitlement_behavior" NOT NULL,
    "reset_period" "reset_period",
    "reset_rule" "reset_rule",
    "display_name_override" TEXT,
    "position" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "package_entitlement_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "price" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "package_version_id" UUID NOT NULL,
    "billing_model" "billing_model" NOT NULL,
    "billing_period" "billing_period" NOT NULL,
    "currency" TEXT NOT NULL,
    "billing_country_code" TEXT,
    "amount" DECIMAL,
    "feature_id" UUID,
    "tiers_mode" "tiers_mode",
    "tiers" JSONB,
    "block_size" DECIMAL,
    "min_unit_quantity" DECIMAL,
    "max_unit_quantity" DECIMAL,
    "position" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "price_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "plan_compatible_addon" (
    "environment_id" UUID NOT NULL,
    "plan_version_id" UUID NOT NULL,
    "addon_id" UUID NOT NULL,

    CONSTRAINT "plan_compatible_addon_pkey" PRIMARY KEY ("environment_id","plan_version_id","addon_id")
);

-- CreateTable
CREATE TABLE "addon_dependency" (
    "environment_id" UUID NOT NULL,
    "addon_version_id" UUID NOT NULL,
    "required_addon_id" UUID NOT NULL,

    CONSTRAINT "addon_dependency_pkey" PRIMARY KEY ("environment_id","addon_version_id","required_addon_id")
);

-- CreateTable
CREATE TABLE "coupon" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "coupon_type" "coupon_type" NOT NULL,
    "percent_off" DECIMAL,
    "amounts_off" JSONB,
    "duration_in_months" INTEGER,
    "max_redemptions" INTEGER,
    "status" "coupon_status" NOT NULL DEFAULT 'ACTIVE',
    "additional_meta_data" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coupon_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "customer" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "name" TEXT,
    "email" TEXT,
    "timezone" TEXT,
    "former_timezones" JSONB,
    "billing_currency" TEXT,
    "billing_id" TEXT,
    "crm_id" TEXT,
    "salesforce_id" TEXT,
    "aws_marketplace_customer_id" TEXT,
    "coupon_id" UUID,
    "coupon_granted_at" TIMESTAMPTZ(3),
    "additional_meta_data" JSONB,
    "source_updated_at" TIMESTAMPTZ(3),
    "archived_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "customer_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "customer_state" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "version" BIGINT NOT NULL,
    "access_version" BIGINT NOT NULL,
    "told_events" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "customer_state_pkey" PRIMARY KEY ("environment_id","customer_id")
);

-- CreateTable
CREATE TABLE "customer_resource" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "customer_resource_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "promotional_entitlement" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "usage_limit" DECIMAL,
    "has_unlimited_usage" BOOLEAN NOT NULL DEFAULT false,
    "has_soft_limit" BOOLEAN NOT NULL DEFAULT false,
    "enum_values" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "reset_period" "reset_period",
    "reset_rule" "reset_rule",
    "period" "promotional_period" NOT NULL,
    "description" TEXT,
    "is_visible" BOOLEAN NOT NULL DEFAULT true,
    "start_date" TIMESTAMPTZ(3) NOT NULL,
    "end_date" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "promotional_entitlement_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "subscription" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "ref_id" TEXT NOT NULL,
    "customer_id" UUID NOT NULL,
    "paying_customer_id" UUID,
    "resource_id" UUID,
    "product_id" UUID NOT NULL,
    "plan_version_id" UUID NOT NULL,
    "status" "subscription_status" NOT NULL,
    "pricing_type" "pricing_type" NOT NULL,
    "has_paid" BOOLEAN NOT NULL DEFAULT false,
    "ended_unpaid" BOOLEAN NOT NULL DEFAULT false,
    "billing_period" "billing_period",
    "billing_currency" TEXT,
    "billing_country_code" TEXT,
    "start_date" TIMESTAMPTZ(3) NOT NULL,
    "end_date" TIMESTAMPTZ(3),
    "trial_end_date" TIMESTAMPTZ(3),
    "trial_end_behavior" "trial_end_behavior",
    "told_trial_end" TIMESTAMPTZ(3),
    "cancellation_date" TIMESTAMPTZ(3),
    "effective_end_date" TIMESTAMPTZ(3),
    "cancel_reason" "subscription_cancel_reason",
    "billing_anchor" TIMESTAMPTZ(3) NOT NULL,
    "current_period_start" TIMESTAMPTZ(3),
    "current_period_end" TIMESTAMPTZ(3),
    "usage_anchor" TIMESTAMPTZ(3) NOT NULL,
    "entitlements_revoked_at" TIMESTAMPTZ(3),
    "payment_collection" "payment_collection" NOT NULL DEFAULT 'NOT_REQUIRED',
    "awaits_payment" BOOLEAN NOT NULL DEFAULT false,
    "payment_collection_method" "payment_collection_method",
    "budget_limit" DECIMAL,
    "budget_has_soft_limit" BOOLEAN NOT NULL DEFAULT false,
    "minimum_spend" JSONB,
    "coupon_id" UUID,
    "billing_id" TEXT,
    "crm_id" TEXT,
    "salesforce_id" TEXT,
    "additional_meta_data" JSONB,
    "source_updated_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "subscription_addon" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "addon_version_id" UUID NOT NULL,
    "quantity" INTEGER NOT NULL,

    CONSTRAINT "subscription_addon_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "subscription_quantity" (
    "environment_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "quantity" DECIMAL NOT NULL,

    CONSTRAINT "subscription_quantity_pkey" PRIMARY KEY ("environment_id","subscription_id","feature_id")
);

-- CreateTable
CREATE TABLE "subscription_entitlement" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "usage_limit" DECIMAL,
    "has_unlimited_usage" BOOLEAN NOT NULL DEFAULT false,
    "has_soft_limit" BOOLEAN NOT NULL DEFAULT false,
    "enum_values" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "reset_period" "reset_period",
    "reset_rule" "reset_rule",

    CONSTRAINT "subscription_entitlement_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "scheduled_update" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "update_type" "scheduled_update_type" NOT NULL,
    "status" "scheduled_update_status" NOT NULL DEFAULT 'Scheduled',
    "execute_at" TIMESTAMPTZ(3) NOT NULL,
    "variables" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "scheduled_update_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "subscription_renewal" (
    "environment_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_renewal_pkey" PRIMARY KEY ("environment_id","subscription_id","period_start")
);

-- CreateTable
CREATE TABLE "package_migration" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "package_id" UUID NOT NULL,
    "package_version_id" UUID NOT NULL,
    "total" INTEGER NOT NULL,
    "migrated" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "package_migration_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "trial" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "product_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "trial_pkey" PRIMARY KEY ("environment_id","customer_id","product_id")
);

-- CreateTable
CREATE TABLE "invoice" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "billing_id" TEXT,
    "status" "invoice_status" NOT NULL,
    "reason" "invoice_reason" NOT NULL,
    "currency" TEXT NOT NULL,
    "sub_total" DECIMAL NOT NULL,
    "total" DECIMAL NOT NULL,
    "amount_due" DECIMAL NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "requires_action" BOOLEAN NOT NULL DEFAULT false,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "collection_method" "payment_collection_method" NOT NULL DEFAULT 'INVOICE',
    "credit_applied" DECIMAL NOT NULL DEFAULT 0,
    "discount" DECIMAL NOT NULL DEFAULT 0,
    "tax" DECIMAL NOT NULL DEFAULT 0,
    "failed_since" TIMESTAMPTZ(3),
    "has_failed" BOOLEAN NOT NULL DEFAULT false,
    "number" TEXT,
    "payment_secret" TEXT,
    "provider_revision" BIGINT NOT NULL DEFAULT 0,
    "refunded_amount" DECIMAL NOT NULL DEFAULT 0,
    "payment_url" TEXT,
    "error_message" TEXT,
    "due_date" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "invoice_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "invoice_line" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "line_type" TEXT NOT NULL DEFAULT 'Other',
    "price_id" UUID,
    "description" TEXT NOT NULL,
    "quantity" DECIMAL NOT NULL,
    "unit_amount" DECIMAL,
    "amount" DECIMAL NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "is_proration" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "invoice_line_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "balance_entry" (
    "environment_id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "charge_id" UUID NOT NULL,
    "kind" "balance_entry_kind" NOT NULL,
    "customer_id" UUID NOT NULL,
    "currency" TEXT NOT NULL,
    "amount" DECIMAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "balance_entry_pkey" PRIMARY KEY ("environment_id","invoice_id","charge_id","kind")
);

-- CreateTable
CREATE TABLE "subscription_billing" (
    "environment_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "account" JSONB NOT NULL,
    "collection_method" "payment_collection_method" NOT NULL DEFAULT 'INVOICE',
    "coupon_id" UUID,
    "payment_due_at" TIMESTAMPTZ(3),
    "late_usage_due_at" TIMESTAMPTZ(3),
    "sync_error" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_billing_pkey" PRIMARY KEY ("environment_id","subscription_id")
);

-- CreateTable
CREATE TABLE "billing_intent" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "kind" "billing_intent_kind" NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "payload" JSONB NOT NULL,
    "state" "billing_intent_state" NOT NULL DEFAULT 'WAITING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leased_until" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "billing_intent_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "builtin_invoice" (
    "environment_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "number" TEXT NOT NULL,
    "customer_id" UUID NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "status" "invoice_status" NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 1,
    "currency" TEXT NOT NULL,
    "amount_due" DECIMAL NOT NULL,
    "refunded_amount" DECIMAL NOT NULL DEFAULT 0,
    "requires_action" BOOLEAN NOT NULL DEFAULT false,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "payment_token" TEXT,
    "error_message" TEXT,
    "document" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "builtin_invoice_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "builtin_request" (
    "environment_id" UUID NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "invoice_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "builtin_request_pkey" PRIMARY KEY ("environment_id","idempotency_key")
);

-- CreateTable
CREATE TABLE "builtin_payment_method" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "reference" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "builtin_payment_method_pkey" PRIMARY KEY ("environment_id","customer_id")
);

-- CreateTable
CREATE TABLE "builtin_tax_rate" (
    "environment_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "percentage" DECIMAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "builtin_tax_rate_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "builtin_invoice_number" (
    "environment_id" UUID NOT NULL,
    "last_number" BIGINT NOT NULL,

    CONSTRAINT "builtin_invoice_number_pkey" PRIMARY KEY ("environment_id")
);

-- CreateTable
CREATE TABLE "coupon_redemption" (
    "environment_id" UUID NOT NULL,
    "coupon_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "redeemed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "coupon_redemption_pkey" PRIMARY KEY ("environment_id","coupon_id","subscription_id")
);

-- CreateTable
CREATE TABLE "usage_measurement" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "resource_id" UUID,
    "feature_id" UUID NOT NULL,
    "value" DECIMAL NOT NULL,
    "behavior" "usage_update_behavior" NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "dimensions" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_measurement_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "ingestion_key" (
    "environment_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "body_hash" BYTEA,
    "record_id" UUID NOT NULL,
    "position" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ingestion_key_pkey" PRIMARY KEY ("environment_id","hash")
) PARTITION BY HASH ("hash");

-- CreateTable
CREATE TABLE "raw_event" (
    "environment_id" UUID NOT NULL,
    "batch_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "is_ahead" BOOLEAN NOT NULL DEFAULT false,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "customer_id" UUID NOT NULL,
    "resource_id" UUID,
    "event_name" TEXT NOT NULL,
    "dimensions" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "raw_event_pkey" PRIMARY KEY ("environment_id","batch_id","position","is_ahead","occurred_at")
) PARTITION BY LIST ("is_ahead");

-- CreateTable
CREATE TABLE "pending_batch" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "swept_at" TIMESTAMPTZ(3),
    "sweeps" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "pending_batch_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "usage_series" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "resource_id" UUID,
    "feature_id" UUID NOT NULL,
    "reset_period" "reset_period",
    "reset_rule" "reset_rule",
    "anchor" TIMESTAMPTZ(3),
    "timezone" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_series_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "usage_counter" (
    "environment_id" UUID NOT NULL,
    "series_id" UUID NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "usage" DECIMAL NOT NULL,
    "version" BIGINT NOT NULL,
    "events" BIGINT NOT NULL DEFAULT 0,
    "total" DECIMAL,
    "meter_version" INTEGER,

    CONSTRAINT "usage_counter_pkey" PRIMARY KEY ("environment_id","series_id","period_start")
);

-- CreateTable
CREATE TABLE "usage_member" (
    "environment_id" UUID NOT NULL,
    "series_id" UUID NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "member" BYTEA NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_member_pkey" PRIMARY KEY ("environment_id","series_id","period_start","member")
);

-- CreateTable
CREATE TABLE "usage_rollup" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "part_id" UUID NOT NULL,
    "bucket_start" TIMESTAMPTZ(3) NOT NULL,
    "usage" DECIMAL NOT NULL,
    "events" BIGINT NOT NULL,
    "is_level" BOOLEAN NOT NULL DEFAULT false,
    "meter_version" INTEGER,

    CONSTRAINT "usage_rollup_pkey" PRIMARY KEY ("environment_id","customer_id","feature_id","part_id","bucket_start")
);

-- CreateTable
CREATE TABLE "usage_grouping" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "dimensions" TEXT[],
    "ready_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_grouping_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "usage_group_rollup" (
    "environment_id" UUID NOT NULL,
    "grouping_id" UUID NOT NULL,
    "part_id" UUID NOT NULL,
    "bucket_start" TIMESTAMPTZ(3) NOT NULL,
    "source" TEXT NOT NULL,
    "is_level" BOOLEAN NOT NULL,
    "groups" JSONB NOT NULL,

    CONSTRAINT "usage_group_rollup_pkey" PRIMARY KEY ("environment_id","grouping_id","part_id","bucket_start")
);

-- CreateTable
CREATE TABLE "usage_recomputation" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "customer_id" UUID,
    "from_time" TIMESTAMPTZ(3),
    "to_time" TIMESTAMPTZ(3),
    "meter_version" INTEGER NOT NULL,
    "done_until" UUID,
    "step_size" INTEGER NOT NULL DEFAULT 20,
    "customers_total" INTEGER NOT NULL,
    "customers_done" INTEGER NOT NULL DEFAULT 0,
    "counters_left" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "usage_recomputation_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "outbox_message" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" "change_kind" NOT NULL,
    "customer_id" TEXT,
    "resource_id" TEXT,
    "version" BIGINT NOT NULL,
    "changes" INTEGER NOT NULL DEFAULT 1,
    "payload" JSONB,
    "told" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_until" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "unreadable" TEXT,

    CONSTRAINT "outbox_message_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "environment_feed" (
    "environment_id" UUID NOT NULL,
    "epoch" BIGINT NOT NULL,
    "vouched_by" TEXT NOT NULL,
    "is_told" BOOLEAN NOT NULL,
    "sequence" BIGINT NOT NULL DEFAULT 0,
    "beat_at" TIMESTAMPTZ(3),

    CONSTRAINT "environment_feed_pkey" PRIMARY KEY ("environment_id")
);

-- CreateTable
CREATE TABLE "cache_warming" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "total" INTEGER NOT NULL,
    "told" INTEGER NOT NULL,
    "last_customer" UUID,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "cache_warming_pkey" PRIMARY KEY ("environment_id")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "trace_id" TEXT,
    "actor_kind" "audit_actor_kind" NOT NULL,
    "actor_id" TEXT,
    "actor_name" TEXT NOT NULL,
    "address" TEXT,
    "operation" TEXT NOT NULL,
    "entity_kind" TEXT NOT NULL,
    "entity_id" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("environment_id","at","id")
) PARTITION BY RANGE ("at");

-- CreateTable
CREATE TABLE "notification_event" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "payload_version" INTEGER NOT NULL,
    "customer_id" UUID,
    "customer_version" BIGINT,
    "customer_index" BIGINT,
    "payload" JSONB NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "traceparent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "notification_event_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT,
    "event_types" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "status" "webhook_endpoint_status" NOT NULL DEFAULT 'ACTIVE',
    "disabled_reason" TEXT,
    "disabled_at" TIMESTAMPTZ(3),
    "secret" BYTEA NOT NULL,
    "former_secrets" BYTEA[] DEFAULT ARRAY[]::BYTEA[],
    "former_secrets_expire_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
    "failures_in_row" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "rests_until" TIMESTAMPTZ(3),
    "leased_by" UUID,
    "leased_until" TIMESTAMPTZ(3),
    "served_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "environment_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "customer_id" UUID,
    "status" "webhook_delivery_status" NOT NULL DEFAULT 'PENDING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("environment_id","endpoint_id","event_id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "environment_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "duration_ms" INTEGER NOT NULL,
    "status_code" INTEGER,
    "response" TEXT,
    "error" TEXT,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("environment_id","endpoint_id","event_id","number")
);

-- CreateTable
CREATE TABLE "customer_evaluation" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "version" BIGINT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "customer_evaluation_pkey" PRIMARY KEY ("environment_id","customer_id")
);

-- CreateTable
CREATE TABLE "evaluation_round" (
    "environment_id" UUID NOT NULL,
    "after_id" UUID NOT NULL,
    "rounds" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "evaluation_round_pkey" PRIMARY KEY ("environment_id")
);

-- CreateTable
CREATE TABLE "alert" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "description" TEXT,
    "feature_id" UUID,
    "plan_id" TEXT,
    "customer_id" UUID,
    "thresholds" JSONB NOT NULL,
    "hysteresis_percent" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "alert_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "alert_crossing" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "alert_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "resource_id" UUID,
    "subject_id" UUID NOT NULL,
    "threshold_kind" TEXT NOT NULL,
    "threshold_value" DECIMAL NOT NULL,
    "usage" DECIMAL NOT NULL,
    "usage_limit" DECIMAL,
    "period_start" TIMESTAMPTZ(3),
    "period_end" TIMESTAMPTZ(3),
    "reached_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "alert_crossing_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "told_entitlements" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "part_id" UUID NOT NULL,
    "entitlements" JSONB NOT NULL,

    CONSTRAINT "told_entitlements_pkey" PRIMARY KEY ("environment_id","customer_id","part_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "environment_ref_id_key" ON "environment"("ref_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "feature_environment_id_ref_id_key" ON "feature"("environment_id", "ref_id");

-- CreateIndex
CREATE UNIQUE INDEX "product_environment_id_ref_id_key" ON "product"("environment_id", "ref_id");

-- CreateIndex
CREATE UNIQUE INDEX "package_environment_id_kind_ref_id_key" ON "package"("environment_id", "kind", "ref_id");

-- CreateIndex
CREATE INDEX "package_version_environment_id_base_plan_version_id_idx" ON "package_version"("environment_id", "base_plan_version_id");

-- CreateIndex
CREATE UNIQUE INDEX "package_version_environment_id_package_id_version_number_key" ON "package_version"("environment_id", "package_id", "version_number");

-- CreateIndex
CREATE UNIQUE INDEX "package_entitlement_environment_id_package_version_id_featu_key" ON "package_entitlement"("environment_id", "package_version_id", "feature_id");

-- CreateIndex
CREATE INDEX "price_environment_id_package_version_id_idx" ON "price"("environment_id", "package_version_id");

-- CreateIndex
CREATE UNIQUE INDEX "coupon_environment_id_ref_id_key" ON "coupon"("environment_id", "ref_id");

-- CreateIndex
CREATE INDEX "customer_environment_id_created_at_id_idx" ON "customer"("environment_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "customer_environment_id_coupon_id_idx" ON "customer"("environment_id", "coupon_id");

-- CreateIndex
CREATE UNIQUE INDEX "customer_environment_id_ref_id_key" ON "customer"("environment_id", "ref_id");

-- CreateIndex
CREATE UNIQUE INDEX "customer_resource_environment_id_customer_id_ref_id_key" ON "customer_resource"("environment_id", "customer_id", "ref_id");

-- CreateIndex
CREATE UNIQUE INDEX "customer_resource_environment_id_customer_id_id_key" ON "customer_resource"("environment_id", "customer_id", "id");

-- CreateIndex
CREATE INDEX "promotional_entitlement_environment_id_customer_id_idx" ON "promotional_entitlement"("environment_id", "customer_id");

-- CreateIndex
CREATE INDEX "subscription_environment_id_customer_id_idx" ON "subscription"("environment_id", "customer_id");

-- CreateIndex
CREATE INDEX "subscription_environment_id_created_at_id_idx" ON "subscription"("environment_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "subscription_environment_id_plan_version_id_idx" ON "subscription"("environment_id", "plan_version_id");

-- CreateIndex
CREATE UNIQUE INDEX "subscription_environment_id_ref_id_key" ON "subscription"("environment_id", "ref_id");

-- CreateIndex
CREATE INDEX "subscription_addon_environment_id_addon_version_id_idx" ON "subscription_addon"("environment_id", "addon_version_id");

-- CreateIndex
CREATE INDEX "subscription_addon_version_idx" ON "subscription_addon"("environment_id", "addon_version_id");

-- CreateIndex
CREATE UNIQUE INDEX "subscription_addon_environment_id_subscription_id_addon_ver_key" ON "subscription_addon"("environment_id", "subscription_id", "addon_version_id");

-- CreateIndex
CREATE UNIQUE INDEX "subscription_entitlement_environment_id_subscription_id_fea_key" ON "subscription_entitlement"("environment_id", "subscription_id", "feature_id");

-- CreateIndex
CREATE INDEX "scheduled_update_environment_id_subscription_id_idx" ON "scheduled_update"("environment_id", "subscription_id");

-- CreateIndex
CREATE INDEX "invoice_environment_id_subscription_id_created_at_idx" ON "invoice"("environment_id", "subscription_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "invoice_environment_id_billing_id_key" ON "invoice"("environment_id", "billing_id");

-- CreateIndex
CREATE UNIQUE INDEX "invoice_line_environment_id_invoice_id_position_key" ON "invoice_line"("environment_id", "invoice_id", "position");

-- CreateIndex
CREATE INDEX "balance_entry_environment_id_customer_id_currency_idx" ON "balance_entry"("environment_id", "customer_id", "currency");

-- CreateIndex
CREATE INDEX "balance_entry_environment_id_charge_id_idx" ON "balance_entry"("environment_id", "charge_id");

-- CreateIndex
CREATE INDEX "billing_intent_environment_id_subscription_id_idx" ON "billing_intent"("environment_id", "subscription_id");

-- CreateIndex
CREATE UNIQUE INDEX "billing_intent_environment_id_idempotency_key_key" ON "billing_intent"("environment_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "builtin_invoice_environment_id_idempotency_key_key" ON "builtin_invoice"("environment_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "builtin_invoice_environment_id_number_key" ON "builtin_invoice"("environment_id", "number");

-- CreateIndex
CREATE INDEX "usage_measurement_environment_id_customer_id_feature_id_occ_idx" ON "usage_measurement"("environment_id", "customer_id", "feature_id", "occurred_at", "sequence");

-- CreateIndex
CREATE INDEX "raw_event_environment_id_customer_id_occurred_at_idx" ON "raw_event"("environment_id", "customer_id", "occurred_at");

-- CreateIndex
CREATE INDEX "usage_series_environment_id_customer_id_feature_id_idx" ON "usage_series"("environment_id", "customer_id", "feature_id");

-- CreateIndex
CREATE UNIQUE INDEX "usage_series_identity_key" ON "usage_series"("environment_id", "customer_id", "resource_id", "feature_id", "reset_period", "reset_rule", "anchor", "timezone") NULLS NOT DISTINCT;

-- CreateIndex
CREATE INDEX "usage_grouping_environment_id_feature_id_idx" ON "usage_grouping"("environment_id", "feature_id");

-- CreateIndex
CREATE UNIQUE INDEX "usage_grouping_environment_id_customer_id_feature_id_dimens_key" ON "usage_grouping"("environment_id", "customer_id", "feature_id", "dimensions");

-- CreateIndex
CREATE INDEX "audit_entry_environment_id_entity_kind_entity_id_at_id_idx" ON "audit_entry"("environment_id", "entity_kind", "entity_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entry_environment_id_actor_name_at_id_idx" ON "audit_entry"("environment_id", "actor_name", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entry_environment_id_actor_id_at_id_idx" ON "audit_entry"("environment_id", "actor_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entry_environment_id_operation_at_id_idx" ON "audit_entry"("environment_id", "operation", "at", "id");

-- CreateIndex
CREATE INDEX "notification_event_created_at_idx" ON "notification_event"("created_at");

-- CreateIndex
CREATE INDEX "webhook_delivery_environment_id_event_id_idx" ON "webhook_delivery"("environment_id", "event_id");

-- CreateIndex
CREATE INDEX "customer_evaluation_environment_id_due_at_idx" ON "customer_evaluation"("environment_id", "due_at");

-- CreateIndex
CREATE INDEX "alert_crossing_environment_id_alert_id_reached_at_id_idx" ON "alert_crossing"("environment_id", "alert_id", "reached_at", "id");

-- CreateIndex
CREATE INDEX "alert_crossing_environment_id_customer_id_reached_at_id_idx" ON "alert_crossing"("environment_id", "customer_id", "reached_at", "id");

-- CreateIndex
CREATE INDEX "alert_crossing_environment_id_reached_at_id_idx" ON "alert_crossing"("environment_id", "reached_at", "id");

-- AddForeignKey
ALTER TABLE "import_job" ADD CONSTRAINT "import_job_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "import_item" ADD CONSTRAINT "import_item_environment_id_import_id_fkey" FOREIGN KEY ("environment_id", "import_id") REFERENCES "import_job"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "feature" ADD CONSTRAINT "feature_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "meter" ADD CONSTRAINT "meter_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "meter_version" ADD CONSTRAINT "meter_version_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "product" ADD CONSTRAINT "product_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "product" ADD CONSTRAINT "product_environment_id_new_customer_plan_id_fkey" FOREIGN KEY ("environment_id", "new_customer_plan_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "product" ADD CONSTRAINT "product_environment_id_downgrade_plan_id_fkey" FOREIGN KEY ("environment_id", "downgrade_plan_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package" ADD CONSTRAINT "package_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package" ADD CONSTRAINT "package_environment_id_product_id_fkey" FOREIGN KEY ("environment_id", "product_id") REFERENCES "product"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_version" ADD CONSTRAINT "package_version_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_version" ADD CONSTRAINT "package_version_environment_id_package_id_fkey" FOREIGN KEY ("environment_id", "package_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_version" ADD CONSTRAINT "package_version_environment_id_base_plan_version_id_fkey" FOREIGN KEY ("environment_id", "base_plan_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_entitlement" ADD CONSTRAINT "package_entitlement_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_entitlement" ADD CONSTRAINT "package_entitlement_environment_id_package_version_id_fkey" FOREIGN KEY ("environment_id", "package_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_entitlement" ADD CONSTRAINT "package_entitlement_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "price" ADD CONSTRAINT "price_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "price" ADD CONSTRAINT "price_environment_id_package_version_id_fkey" FOREIGN KEY ("environment_id", "package_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "price" ADD CONSTRAINT "price_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "plan_compatible_addon" ADD CONSTRAINT "plan_compatible_addon_environment_id_plan_version_id_fkey" FOREIGN KEY ("environment_id", "plan_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "plan_compatible_addon" ADD CONSTRAINT "plan_compatible_addon_environment_id_addon_id_fkey" FOREIGN KEY ("environment_id", "addon_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "addon_dependency" ADD CONSTRAINT "addon_dependency_environment_id_addon_version_id_fkey" FOREIGN KEY ("environment_id", "addon_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "addon_dependency" ADD CONSTRAINT "addon_dependency_environment_id_required_addon_id_fkey" FOREIGN KEY ("environment_id", "required_addon_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "coupon" ADD CONSTRAINT "coupon_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer" ADD CONSTRAINT "customer_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer" ADD CONSTRAINT "customer_environment_id_coupon_id_fkey" FOREIGN KEY ("environment_id", "coupon_id") REFERENCES "coupon"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer_state" ADD CONSTRAINT "customer_state_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer_resource" ADD CONSTRAINT "customer_resource_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "customer_resource" ADD CONSTRAINT "customer_resource_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "promotional_entitlement" ADD CONSTRAINT "promotional_entitlement_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "promotional_entitlement" ADD CONSTRAINT "promotional_entitlement_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "promotional_entitlement" ADD CONSTRAINT "promotional_entitlement_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_paying_customer_id_fkey" FOREIGN KEY ("environment_id", "paying_customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_customer_id_resource_id_fkey" FOREIGN KEY ("environment_id", "customer_id", "resource_id") REFERENCES "customer_resource"("environment_id", "customer_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_product_id_fkey" FOREIGN KEY ("environment_id", "product_id") REFERENCES "product"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_plan_version_id_fkey" FOREIGN KEY ("environment_id", "plan_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_coupon_id_fkey" FOREIGN KEY ("environment_id", "coupon_id") REFERENCES "coupon"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_addon" ADD CONSTRAINT "subscription_addon_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_addon" ADD CONSTRAINT "subscription_addon_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_addon" ADD CONSTRAINT "subscription_addon_environment_id_addon_version_id_fkey" FOREIGN KEY ("environment_id", "addon_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_quantity" ADD CONSTRAINT "subscription_quantity_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_quantity" ADD CONSTRAINT "subscription_quantity_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_entitlement" ADD CONSTRAINT "subscription_entitlement_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_entitlement" ADD CONSTRAINT "subscription_entitlement_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_entitlement" ADD CONSTRAINT "subscription_entitlement_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "scheduled_update" ADD CONSTRAINT "scheduled_update_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "scheduled_update" ADD CONSTRAINT "scheduled_update_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_renewal" ADD CONSTRAINT "subscription_renewal_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_migration" ADD CONSTRAINT "package_migration_environment_id_package_id_fkey" FOREIGN KEY ("environment_id", "package_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_migration" ADD CONSTRAINT "package_migration_environment_id_package_version_id_fkey" FOREIGN KEY ("environment_id", "package_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "trial" ADD CONSTRAINT "trial_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "trial" ADD CONSTRAINT "trial_environment_id_product_id_fkey" FOREIGN KEY ("environment_id", "product_id") REFERENCES "product"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "trial" ADD CONSTRAINT "trial_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice" ADD CONSTRAINT "invoice_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice" ADD CONSTRAINT "invoice_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice" ADD CONSTRAINT "invoice_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice_line" ADD CONSTRAINT "invoice_line_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice_line" ADD CONSTRAINT "invoice_line_environment_id_invoice_id_fkey" FOREIGN KEY ("environment_id", "invoice_id") REFERENCES "invoice"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "balance_entry" ADD CONSTRAINT "balance_entry_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "balance_entry" ADD CONSTRAINT "balance_entry_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "subscription_billing" ADD CONSTRAINT "subscription_billing_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "billing_intent" ADD CONSTRAINT "billing_intent_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "coupon_redemption" ADD CONSTRAINT "coupon_redemption_environment_id_coupon_id_fkey" FOREIGN KEY ("environment_id", "coupon_id") REFERENCES "coupon"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "coupon_redemption" ADD CONSTRAINT "coupon_redemption_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_series" ADD CONSTRAINT "usage_series_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_series" ADD CONSTRAINT "usage_series_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_series" ADD CONSTRAINT "usage_series_environment_id_customer_id_resource_id_fkey" FOREIGN KEY ("environment_id", "customer_id", "resource_id") REFERENCES "customer_resource"("environment_id", "customer_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_series" ADD CONSTRAINT "usage_series_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_counter" ADD CONSTRAINT "usage_counter_environment_id_series_id_fkey" FOREIGN KEY ("environment_id", "series_id") REFERENCES "usage_series"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_grouping" ADD CONSTRAINT "usage_grouping_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_group_rollup" ADD CONSTRAINT "usage_group_rollup_environment_id_grouping_id_fkey" FOREIGN KEY ("environment_id", "grouping_id") REFERENCES "usage_grouping"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_recomputation" ADD CONSTRAINT "usage_recomputation_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "environment_feed" ADD CONSTRAINT "environment_feed_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "cache_warming" ADD CONSTRAINT "cache_warming_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- What follows is beyond Prisma's schema language: it makes the invariants true even if code is wrong.

-- Partitions. Identities of events live apart from the events, so that either can be pruned by age without touching the other. Months of raw events are
-- made before they are needed, by ensure_raw_event_partitions; where nobody has, events are in the default one. What a test clock has stored ahead of its
-- time stays apart, so that no month that is made has to take over what may be millions of events.
DO $$
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE ingestion_key_%s PARTITION OF ingestion_key FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
  END LOOP;
END $$;
CREATE TABLE "raw_event_ahead" PARTITION OF "raw_event" FOR VALUES IN (true);
CREATE TABLE "raw_event_by_month" PARTITION OF "raw_event" FOR VALUES IN (false) PARTITION BY RANGE ("occurred_at");
CREATE TABLE "raw_event_default" PARTITION OF "raw_event_by_month" DEFAULT;
-- Months of the audit log likewise, by ensure_audit_partitions.
CREATE TABLE "audit_entry_default" PARTITION OF "audit_entry" DEFAULT;

-- Counters are updated in place, over and over.
ALTER TABLE "usage_counter" SET (fillfactor = 70);
ALTER TABLE "usage_rollup" SET (fillfactor = 70);
ALTER TABLE "customer_state" SET (fillfactor = 70);
-- A row of some kilobytes that lives for a moment is not worth compressing.
ALTER TABLE "outbox_message" SET (toast_tuple_target = 8160);

-- What has ended lately is looked for every few seconds. A counter's period never changes, so updating it stays within its page.
CREATE INDEX "usage_counter_period_end_idx" ON "usage_counter" ("environment_id", "period_end") WHERE "period_end" < 'infinity';

-- Whether usage was set after a time is asked for each report that is dated. Its SETs alone: others may be thousands in a minute.
CREATE INDEX "usage_measurement_set_idx" ON "usage_measurement"
  ("environment_id", "customer_id", "feature_id", (coalesce("resource_id", '00000000-0000-0000-0000-000000000000'::uuid)), "occurred_at")
  WHERE "behavior" = 'SET';

-- Coexistence: of one product a customer (or resource) holds at most one subscription of each of these statuses.
CREATE UNIQUE INDEX "subscription_in_force_key" ON "subscription" ("environment_id", "customer_id", "product_id", "resource_id", "status")
  NULLS NOT DISTINCT WHERE "status" IN ('NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING');

-- At most one plan change is pending.
CREATE UNIQUE INDEX "scheduled_update_plan_change_key" ON "scheduled_update" ("environment_id", "subscription_id")
  WHERE "status" = 'Scheduled' AND "update_type" IN ('Plan', 'Downgrade', 'MigrateToLatest');

-- One version is the latest.
CREATE UNIQUE INDEX "package_version_latest_key" ON "package_version" ("environment_id", "package_id") WHERE "is_latest";

-- One migration of a package runs at a time.
CREATE UNIQUE INDEX "package_migration_open_key" ON "package_migration" ("environment_id", "package_id") WHERE "finished_at" IS NULL;

-- A customer holds at most one of a feature: a new one takes the place of the old one.
CREATE UNIQUE INDEX "promotional_entitlement_held_key" ON "promotional_entitlement" ("environment_id", "customer_id", "feature_id") WHERE "revoked_at" IS NULL;

-- What is due or waits, for the loaders, the workers and the sweeps.
CREATE INDEX "subscription_trial_end_idx" ON "subscription" ("environment_id", "trial_end_date")
  WHERE "status" = 'IN_TRIAL' AND "told_trial_end" IS DISTINCT FROM "trial_end_date";
CREATE INDEX "subscription_due_idx" ON "subscription" ("environment_id", "due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "promotional_entitlement_due_idx" ON "promotional_entitlement" ("environment_id", "due_at") WHERE "due_at" IS NOT NULL;
CREATE INDEX "scheduled_update_waiting_idx" ON "scheduled_update" ("environment_id", "subscription_id") WHERE "status" = 'Scheduled';
CREATE INDEX "package_migration_open_idx" ON "package_migration" ("environment_id", "created_at", "id") WHERE "finished_at" IS NULL;
CREATE INDEX "import_job_open_idx" ON "import_job" ("environment_id", "id") WHERE "finished_at" IS NULL;
CREATE INDEX "import_item_pending_idx" ON "import_item" ("environment_id", "import_id", "position") WHERE "status" = 'PENDING';
CREATE INDEX "usage_recomputation_unfinished_idx" ON "usage_recomputation" ("environment_id", "due_at") WHERE "finished_at" IS NULL;
CREATE INDEX "billing_intent_waiting_idx" ON "billing_intent" ("environment_id", "leased_until", "next_attempt_at", "sequence") WHERE "state" = 'WAITING';
CREATE INDEX "subscription_billing_payment_due_idx" ON "subscription_billing" ("environment_id", "payment_due_at") WHERE "payment_due_at" IS NOT NULL;
CREATE INDEX "subscription_billing_late_usage_due_idx" ON "subscription_billing" ("environment_id", "late_usage_due_at") WHERE "late_usage_due_at" IS NOT NULL;
CREATE INDEX "invoice_failed_idx" ON "invoice" ("environment_id", "failed_since") WHERE "failed_since" IS NOT NULL;

-- Who holds a version, for its migration and retirement.
CREATE INDEX "subscription_plan_version_idx" ON "subscription" ("environment_id", "plan_version_id") WHERE "status" NOT IN ('CANCELED', 'EXPIRED');

-- Few customers are archived: whether one of a thousand is, is quicker found among them than among all.
CREATE INDEX "customer_archived_idx" ON "customer" ("environment_id", "id") WHERE "archived_at" IS NOT NULL;

ALTER TABLE "api_key" ADD CONSTRAINT "api_key_hash_check" CHECK (octet_length("hash") = 32);
ALTER TABLE "environment"
  ADD CONSTRAINT "environment_test_clock_check" CHECK ("test_clock" IS NULL OR "is_test"),
  ADD CONSTRAINT "environment_former_secrets_check" CHECK (cardinality("former_signing_secrets") = cardinality("former_signing_secrets_expire_at"));
ALTER TABLE "feature" ADD CONSTRAINT "feature_meter_check" CHECK ("feature_type" = 'NUMBER' OR "meter_type" = 'None');
-- AddForeignKey
ALTER TABLE "notification_event" ADD CONSTRAINT "notification_event_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_environment_id_endpoint_id_fkey" FOREIGN KEY ("environment_id", "endpoint_id") REFERENCES "webhook_endpoint"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_environment_id_event_id_fkey" FOREIGN KEY ("environment_id", "event_id") REFERENCES "notification_event"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_environment_id_endpoint_id_event_id_fkey" FOREIGN KEY ("environment_id", "endpoint_id", "event_id") REFERENCES "webhook_delivery"("environment_id", "endpoint_id", "event_id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "alert" ADD CONSTRAINT "alert_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "alert" ADD CONSTRAINT "alert_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "alert" ADD CONSTRAINT "alert_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "alert_crossing" ADD CONSTRAINT "alert_crossing_environment_id_alert_id_fkey" FOREIGN KEY ("environment_id", "alert_id") REFERENCES "alert"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "alert_crossing" ADD CONSTRAINT "alert_crossing_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "told_entitlements" ADD CONSTRAINT "told_entitlements_environment_id_customer_id_fkey" FOREIGN KEY ("environment_id", "customer_id") REFERENCES "customer"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;


ALTER TABLE "meter" ADD CONSTRAINT "meter_field_check" CHECK ("aggregation" = 'COUNT' OR "field" IS NOT NULL);
ALTER TABLE "package_version"
  ADD CONSTRAINT "package_version_published_check" CHECK (("status" = 'DRAFT') = ("published_at" IS NULL)),
  ADD CONSTRAINT "package_version_latest_check" CHECK (NOT "is_latest" OR "status" = 'PUBLISHED'),
  ADD CONSTRAINT "package_version_number_check" CHECK ("version_number" > 0),
  ADD CONSTRAINT "package_version_trial_check" CHECK (("trial_duration" IS NULL) = ("trial_units" IS NULL) AND "trial_duration" > 0);
ALTER TABLE "package_entitlement"
  ADD CONSTRAINT "package_entitlement_limit_check" CHECK (NOT ("has_unlimited_usage" AND "usage_limit" IS NOT NULL)),
  ADD CONSTRAINT "package_entitlement_reset_check" CHECK (("reset_period" IS NULL) = ("reset_rule" IS NULL));
ALTER TABLE "price"
  ADD CONSTRAINT "price_currency_check" CHECK ("currency" ~ '^[A-Z]{3}$'),
  ADD CONSTRAINT "price_amount_check" CHECK ("amount" >= 0 AND ("amount" IS NULL) = ("tiers" IS NOT NULL)),
  ADD CONSTRAINT "price_feature_check" CHECK (("billing_model" = 'FLAT_FEE') = ("feature_id" IS NULL));
ALTER TABLE "coupon"
  ADD CONSTRAINT "coupon_value_check"
  CHECK ("coupon_type" = 'PERCENTAGE' AND "percent_off" > 0 AND "percent_off" <= 100 AND "amounts_off" IS NULL
      OR "coupon_type" = 'FIXED' AND "percent_off" IS NULL AND "amounts_off" IS NOT NULL),
  ADD CONSTRAINT "coupon_max_redemptions_check" CHECK ("max_redemptions" > 0);
ALTER TABLE "customer"
  ADD CONSTRAINT "customer_archived_check" CHECK ("archived_at" IS NULL OR ("name" IS NULL AND "email" IS NULL)),
  ADD CONSTRAINT "customer_coupon_check" CHECK (("coupon_id" IS NULL) = ("coupon_granted_at" IS NULL));
ALTER TABLE "customer_state" ADD CONSTRAINT "customer_state_version_check" CHECK ("access_version" <= "version");
-- What was imported is not kept twice.
ALTER TABLE "import_item"
  ADD CONSTRAINT "import_item_input_check" CHECK (("status" = 'PENDING') = ("input" IS NOT NULL)),
  ADD CONSTRAINT "import_item_error_check" CHECK (("status" = 'FAILED') = ("error_reason" IS NOT NULL));
ALTER TABLE "subscription"
  ADD CONSTRAINT "subscription_trial_check" CHECK ("status" <> 'IN_TRIAL' OR ("trial_end_date" IS NOT NULL AND "trial_end_behavior" IS NOT NULL)),
  ADD CONSTRAINT "subscription_final_check" CHECK (("status" IN ('CANCELED', 'EXPIRED')) = ("cancel_reason" IS NOT NULL)),
  ADD CONSTRAINT "subscription_ended_check" CHECK ("status" NOT IN ('CANCELED', 'EXPIRED') OR ("effective_end_date" IS NOT NULL AND "due_at" IS NULL)),
  ADD CONSTRAINT "subscription_dates_check" CHECK ("end_date" > "start_date" AND "trial_end_date" >= "start_date"),
  ADD CONSTRAINT "subscription_period_check" CHECK (("current_period_start" IS NULL) = ("current_period_end" IS NULL));
ALTER TABLE "subscription_addon" ADD CONSTRAINT "subscription_addon_quantity_check" CHECK ("quantity" > 0);
ALTER TABLE "subscription_quantity" ADD CONSTRAINT "subscription_quantity_check" CHECK ("quantity" >= 0);
ALTER TABLE "subscription_entitlement"
  ADD CONSTRAINT "subscription_entitlement_limit_check" CHECK (NOT ("has_unlimited_usage" AND "usage_limit" IS NOT NULL)),
  ADD CONSTRAINT "subscription_entitlement_reset_check" CHECK (("reset_period" IS NULL) = ("reset_rule" IS NULL));
ALTER TABLE "subscription_renewal" ADD CONSTRAINT "subscription_renewal_period_check" CHECK ("period_start" < "period_end");
ALTER TABLE "promotional_entitlement"
  ADD CONSTRAINT "promotional_entitlement_period_check" CHECK ("end_date" > "start_date" AND ("period" = 'LIFETIME') = ("end_date" IS NULL)),
  ADD CONSTRAINT "promotional_entitlement_reset_check" CHECK (("reset_period" IS NULL) = ("reset_rule" IS NULL)),
  ADD CONSTRAINT "promotional_entitlement_due_check" CHECK ("revoked_at" IS NULL OR "due_at" IS NULL);
ALTER TABLE "invoice" ADD CONSTRAINT "invoice_error_check" CHECK ("error_message" IS NULL OR "status" IN ('FAILED', 'CANCELED'));
-- Checked at the end: what an invoice takes is entered before the invoice, under the lock of the payer's balance.
ALTER TABLE "balance_entry"
  ADD CONSTRAINT "balance_entry_invoice_fkey" FOREIGN KEY ("environment_id", "invoice_id") REFERENCES "invoice" ("environment_id", "id") DEFERRABLE INITIALLY DEFERRED,
  ADD CONSTRAINT "balance_entry_charge_fkey" FOREIGN KEY ("environment_id", "charge_id") REFERENCES "invoice" ("environment_id", "id") DEFERRABLE INITIALLY DEFERRED,
  ADD CONSTRAINT "balance_entry_amount_check" CHECK (
    CASE WHEN "kind" IN ('CREDIT', 'WAITING', 'RELEASED') THEN "amount" > 0 WHEN "kind" IN ('DROPPED', 'REVERSED') THEN "amount" < 0 ELSE "amount" <> 0 END);
ALTER TABLE "builtin_invoice"
  ADD CONSTRAINT "builtin_invoice_error_check" CHECK ("error_message" IS NULL OR "status" IN ('FAILED', 'CANCELED')),
  ADD CONSTRAINT "builtin_invoice_refund_check" CHECK ("refunded_amount" >= 0 AND ("refunded_amount" = 0 OR "status" = 'PAID'));
ALTER TABLE "builtin_tax_rate" ADD CONSTRAINT "builtin_tax_rate_percentage_check" CHECK ("percentage" BETWEEN 0 AND 100);
ALTER TABLE "ingestion_key" ADD CONSTRAINT "ingestion_key_hash_check" CHECK (octet_length("hash") = 32);
ALTER TABLE "usage_measurement" ADD CONSTRAINT "usage_measurement_value_check" CHECK (abs("value") < 1e15 AND "value" = round("value", 9));
ALTER TABLE "usage_series" ADD CONSTRAINT "usage_series_reset_check"
  CHECK (("reset_period" IS NULL) = ("reset_rule" IS NULL) AND ("reset_period" IS NULL OR ("anchor" IS NOT NULL AND "timezone" IS NOT NULL)));
ALTER TABLE "usage_counter" ADD CONSTRAINT "usage_counter_period_check" CHECK ("period_start" < "period_end");
-- SHA-256 of the member, cut to 16 bytes: two of a billion members meet with a chance of 1e-21.
ALTER TABLE "usage_member" ADD CONSTRAINT "usage_member_size_check" CHECK (octet_length("member") = 16);
ALTER TABLE "notification_event"
  ADD CONSTRAINT "notification_event_customer_check"
  CHECK (("customer_id" IS NULL) = ("customer_index" IS NULL) AND ("customer_id" IS NULL) = ("customer_version" IS NULL));
ALTER TABLE "webhook_endpoint"
  ADD CONSTRAINT "webhook_endpoint_former_secrets_check" CHECK (cardinality("former_secrets") = cardinality("former_secrets_expire_at")),
  ADD CONSTRAINT "webhook_endpoint_disabled_check" CHECK (("status" = 'DISABLED') = ("disabled_reason" IS NOT NULL)),
  ADD CONSTRAINT "webhook_endpoint_failing_check" CHECK (("failures_in_row" = 0) = ("failing_since" IS NULL));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_finished_check" CHECK (("status" = 'PENDING') = ("finished_at" IS NULL));
-- What is looked for again and again: however many are done, only those that wait are in it.
CREATE INDEX "webhook_delivery_due_idx" ON "webhook_delivery" ("environment_id", "endpoint_id", "due_at", "position") WHERE "status" = 'PENDING';

-- For lists, which say that they are lists (`listed`). Else it would have all of the key, and what is looked up by the key would be looked up here for as long as nothing
-- is known of the table: each time through all deliveries of the endpoint.
CREATE INDEX "webhook_delivery_list_idx" ON "webhook_delivery" ("environment_id", "endpoint_id", "created_at", "event_id") WHERE "created_at" > '-infinity';
-- Rows that live for a moment, and are changed while they do.
ALTER TABLE "customer_evaluation" SET (fillfactor = 70);
CREATE INDEX "alert_deleted_idx" ON "alert" ("deleted_at") WHERE "deleted_at" IS NOT NULL;
ALTER TABLE "alert_crossing"
  ADD CONSTRAINT "alert_crossing_ended_check" CHECK (("ended_at" IS NULL) = ("end_reason" IS NULL)),
  ADD CONSTRAINT "alert_crossing_period_check" CHECK ("period_start" < "period_end");
-- A threshold that is reached is not reached again before it was left.
CREATE UNIQUE INDEX "alert_crossing_open_key" ON "alert_crossing"
  ("environment_id", "customer_id", "alert_id", "subject_id", "resource_id", "threshold_kind", "threshold_value") NULLS NOT DISTINCT WHERE "ended_at" IS NULL;
CREATE INDEX "alert_crossing_period_end_idx" ON "alert_crossing" ("environment_id", "period_end") WHERE "ended_at" IS NULL AND "period_end" IS NOT NULL;
-- What is reached now may be older than almost all that was left.
CREATE INDEX "alert_crossing_open_idx" ON "alert_crossing" ("environment_id", "reached_at", "id") WHERE "ended_at" IS NULL;
CREATE INDEX "alert_crossing_ended_idx" ON "alert_crossing" ("created_at") WHERE "ended_at" IS NOT NULL;
