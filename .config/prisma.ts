import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma-cli/config'

// The Prisma CLI would download its native schema engine. Ours runs the same engine from the npm registry; set the variable to use another.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(new URL('../prisma/schema-engine.mjs', import.meta.url))

export default defineConfig({
  schema: '../prisma/schema.prisma',
  migrations: { path: '../prisma/migrations' },
  // validate and generate need no database
  datasource: { url: process.env.DATABASE_URL ?? '', shadowDatabaseUrl: process.env.SHADOW_DATABASE_URL },
  // Kept by the migration runner (src/migrate.ts), not by a migration.
  experimental: { externalTables: true },
  tables: { external: ['public.schema_guard', 'public.schema_function'] },
})
