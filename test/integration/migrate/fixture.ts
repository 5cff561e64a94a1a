import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import pg from 'pg'
import { type MigrateOptions, migrate } from '../../../src/migrate.js'
import { StartError } from '../../../src/platform/health.js'
import type { Released } from '../../../src/platform/release/apply-migrations.js'
import { assertSchemaCompatible, type SchemaFolders } from '../../../src/platform/schema.js'
import { requiredVariable } from '../../support/database.js'

/** The statement that makes a function which answers `value`. */
export const answering = (name: string, value: number) =>
  `create or replace function ${name}() returns int language sql as $$ select ${value} $$;\n`

/** Folders of migrations and functions, and the name of a database that does not exist yet; another of each for every test. */
export class Scratch {
  readonly lines: Array<{ message: string; level?: string; [field: string]: unknown }> = []
  readonly cleanups: Array<() => unknown>
  readonly folders: SchemaFolders

  private constructor(
    readonly admin: pg.Client,
    readonly root: string,
    readonly database: string,
  ) {
    this.folders = { migrations: join(root, 'migrations'), functions: join(root, 'functions') }
    this.cleanups = [
      () => admin.end(),
      () => rm(root, { recursive: true }),
      () => admin.query(`drop database if exists ${database} with (force)`),
    ]
  }

  static async open(): Promise<Scratch> {
    const admin = new pg.Client({ connectionString: requiredVariable('TEST_DATABASE_URL') })
    await admin.connect()
    const root = await mkdtemp(join(tmpdir(), 'migrate-'))
    const scratch = new Scratch(admin, root, `migrate_${process.pid}_${Math.random().toString(36).slice(2)}`)
    // Code has at least one function.
    await scratch.writeFunction('one.sql', answering('one', 1))
    return scratch
  }

  async close(): Promise<void> {
    for (const cleanup of this.cleanups.reverse()) await cleanup()
  }

  /** The test server's URL with parts replaced. */
  url(parts: Partial<Pick<URL, 'pathname' | 'port' | 'username' | 'password' | 'hostname' | 'search'>> = {}): string {
    return Object.assign(new URL(requiredVariable('TEST_DATABASE_URL')), { pathname: this.database, ...parts }).href
  }

  async write(name: string, script: string): Promise<void> {
    await mkdir(join(this.folders.migrations, name), { recursive: true })
    await writeFile(join(this.folders.migrations, name, 'migration.sql'), script)
  }

  forget(name: string): Promise<void> {
    return rm(join(this.folders.migrations, name), { recursive: true })
  }

  async writeFunction(file: string, script: string): Promise<void> {
    await mkdir(dirname(join(this.folders.functions, file)), { recursive: true })
    await writeFile(join(this.folders.functions, file), script)
  }

  forgetFunction(file: string): Promise<void> {
    return rm(join(this.folders.functions, file))
  }

  release(options: Partial<MigrateOptions> = {}): Promise<Released> {
    const log: MigrateOptions['log'] = (message, fields = {}) => void this.lines.push({ message, ...fields })
    return migrate({ databaseUrl: this.url(), folders: this.folders, log, databaseWaitSeconds: 0.1, ...options })
  }

  /** Names of the migrations that it applied. */
  run(options: Partial<MigrateOptions> = {}): Promise<string[]> {
    return this.release(options).then(({ applied }) => applied)
  }

  /** As a process does at its start. */
  start(folders: SchemaFolders = this.folders): Promise<void> {
    return this.withClient((client) => assertSchemaCompatible(client, folders))
  }

  query(text: string): Promise<Array<Record<string, unknown>>> {
    return this.withClient(async (client) => (await client.query(text)).rows)
  }

  async withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.url() })
    await client.connect()
    return work(client).finally(() => client.end())
  }

  makeDatabase(owner?: string): Promise<unknown> {
    return this.admin.query(`create database ${this.database}${owner ? ` owner ${owner}` : ''}`)
  }

  async makeRole(): Promise<string> {
    const role = `${this.database}_role`
    await this.admin.query(`create role ${role} login password 'correct-horse'`)
    this.cleanups.splice(2, 0, () => this.admin.query(`drop role ${role}`))
    return role
  }
}

/** The sentence that a call ends with. */
export function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => expect.fail('was not refused'),
    (error: unknown) => {
      expect(error).to.be.instanceOf(StartError)
      return (error as Error).message
    },
  )
}
