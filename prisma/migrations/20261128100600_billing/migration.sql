-- What billing remembers of subscriptions, what it wants of the billing provider, and the provider that comes with Tollgate.

-- CreateEnum
CREATE TYPE "billing_intent_kind" AS ENUM ('CREATE_INVOICE', 'COLLECT', 'VOID', 'REFUND');

-- CreateEnum
CREATE TYPE "billing_intent_state" AS ENUM ('WAITING', 'DONE', 'GIVEN_UP');

-- AlterTable
ALTER TABLE "coupon" ADD COLUMN     "max_redemptions" INTEGER;

-- AlterTable
ALTER TABLE "invoice" ADD COLUMN     "attempt_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "collection_method" "payment_collection_method" NOT NULL DEFAULT 'INVOICE',
ADD COLUMN     "credit_applied" DECIMAL NOT NULL DEFAULT 0,
ADD COLUMN     "discount" DECIMAL NOT NULL DEFAULT 0,
ADD COLUMN     "failed_since" TIMESTAMPTZ(3),
ADD COLUMN     "number" TEXT,
ADD COLUMN     "payment_secret" TEXT,
ADD COLUMN     "provider_revision" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "refunded_amount" DECIMAL NOT NULL DEFAULT 0,
ADD COLUMN     "tax" DECIMAL NOT NULL DEFAULT 0,
ALTER COLUMN "billing_id" DROP NOT NULL;

-- AlterTable
ALTER TABLE "invoice_line" ADD COLUMN     "line_type" TEXT NOT NULL DEFAULT 'Other',
ADD COLUMN     "price_id" UUID;

-- CreateTable
CREATE TABLE "subscription_billing" (
    "environment_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "account" JSONB NOT NULL,
    "collection_method" "payment_collection_method" NOT NULL DEFAULT 'INVOICE',
    "coupon_id" UUID,
    "payment_due_at" TIMESTAMPTZ(3),
    "sync_error" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

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
    "payload" JSONB NOT NULL,
    "state" "billing_intent_state" NOT NULL DEFAULT 'WAITING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leased_until" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

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

-- CreateIndex
CREATE INDEX "billing_intent_environment_id_subscription_id_idx" ON "billing_intent"("environment_id", "subscription_id");

-- CreateIndex
CREATE UNIQUE INDEX "billing_intent_environment_id_idempotency_key_key" ON "billing_intent"("environment_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "builtin_invoice_environment_id_idempotency_key_key" ON "builtin_invoice"("environment_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "builtin_invoice_environment_id_number_key" ON "builtin_invoice"("environment_id", "number");

-- AddForeignKey
ALTER TABLE "subscription_billing" ADD CONSTRAINT "subscription_billing_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "billing_intent" ADD CONSTRAINT "billing_intent_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "coupon_redemption" ADD CONSTRAINT "coupon_redemption_environment_id_coupon_id_fkey" FOREIGN KEY ("environment_id", "coupon_id") REFERENCES "coupon"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "coupon_redemption" ADD CONSTRAINT "coupon_redemption_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- What follows is beyond Prisma's schema language.

ALTER TABLE "coupon" ADD CONSTRAINT "coupon_max_redemptions_check" CHECK ("max_redemptions" > 0);
ALTER TABLE "builtin_invoice" ADD CONSTRAINT "builtin_invoice_error_check" CHECK ("error_message" IS NULL OR "status" = 'FAILED');
ALTER TABLE "builtin_invoice" ADD CONSTRAINT "builtin_invoice_refund_check" CHECK ("refunded_amount" >= 0 AND ("refunded_amount" = 0 OR "status" = 'PAID'));

-- What waits, for the sweep: intents, and first payments that have a deadline.
CREATE INDEX "billing_intent_waiting_idx" ON "billing_intent" ("next_attempt_at") WHERE "state" = 'WAITING';
CREATE INDEX "subscription_billing_payment_due_idx" ON "subscription_billing" ("payment_due_at") WHERE "payment_due_at" IS NOT NULL;
CREATE INDEX "invoice_failed_idx" ON "invoice" ("failed_since") WHERE "failed_since" IS NOT NULL;
