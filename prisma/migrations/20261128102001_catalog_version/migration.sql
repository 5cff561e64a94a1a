-- Entitlement states that are kept outside of PostgreSQL tell by it whether the catalog that they were made from is still the one in force.
ALTER TABLE "environment" ADD COLUMN "catalog_version" BIGINT NOT NULL DEFAULT 0;
