/**
 * Compares the Prisma schema with the migrations.
 *   npm run db:diff                    exit 1 and print the missing SQL when they differ (CI runs this)
 *   npm run db:diff -- --write NAME    write it as the next migration folder
 * The schema engine of the Prisma CLI is a download; its WebAssembly build from the registry does the same work offline,
 * through a driver adapter on a temporary embedded database with all migrations.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { applySchema, readSchemaFiles } from '../src/core/db/migrate.ts';

type WasmExports = Record<string, (() => void) | undefined>;

/** Node has WebAssembly; only the browser's type library declares the global. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: { instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: WasmExports } }> };
};

const root = join(import.meta.dirname, '..');
const migrationsDir = join(root, 'prisma', 'migrations');

async function schemaFiles(): Promise<{ path: string; content: string }[]> {
  const modelsDir = join(root, 'prisma', 'models');
  const paths = [
    join(root, 'prisma', 'schema.prisma'),
    ...(await readdir(modelsDir)).sort().map((name) => join(modelsDir, name)),
  ];
  return Promise.all(paths.map(async (path) => ({ path, content: await readFile(path, 'utf8') })));
}

async function loadEngine(): Promise<typeof engine> {
  const wasmPath = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace(/schema_engine\.js$/, 'schema_engine_bg.wasm');
  const { instance } = await webAssembly.instantiate(await readFile(wasmPath), { './schema_engine_bg.js': engine });
  const binding = engine as unknown as { __wbg_set_wasm(exports: WasmExports): void };
  binding.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();
  return engine;
}

/** Table by table, because a reference to a partitioned table would be dropped with the partition. */
const DETACH_PARTITIONS = `DO $$ DECLARE item record; BEGIN
  FOR item IN SELECT inhparent::regclass AS parent, inhrelid::regclass AS partition FROM pg_inherits
    JOIN pg_class c ON c.oid = inhrelid AND c.relnamespace = 'partitions'::regnamespace AND c.relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', item.parent, item.partition);
  END LOOP;
END $$`;

/** SQL that would bring a database with all migrations to the Prisma schema; empty when they agree. */
async function missingSql(): Promise<string> {
  const database = await PGlite.create();
  try {
    await applySchema(
      {
        run: (sql) => database.exec(sql).then(() => undefined),
        query: async (sql, values) => (await database.query(sql, values as unknown[])).rows as Record<string, unknown>[],
      },
      await readSchemaFiles(migrationsDir),
    );
    // The schema engine knows of no partitions: it takes a reference to a partitioned table for one to each of them.
    await database.exec(`DROP TABLE schema_migrations, schema_sql; ${DETACH_PARTITIONS}`);
    const { SchemaEngine } = await loadEngine();
    const files = await schemaFiles();
    const adapter = Object.assign(new PrismaPGlite(database), {
      connectToShadowDb: async () => new PrismaPGlite(await PGlite.create()).connect(),
    });
    const instance = await SchemaEngine.new(
      { datamodels: files.map((file) => [file.path, file.content]) },
      () => undefined,
      bindMigrationAwareSqlAdapterFactory(adapter as never) as never,
    );
    const result = await instance.diff({
      from: { tag: 'schemaDatasource', files, configDir: root },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
      shadowDatabaseUrl: null,
    } as never);
    return result.exitCode === 2 ? (result.stdout ?? '') : '';
  } finally {
    await database.close();
  }
}

const sql = (await missingSql()).trim();
const writeAt = process.argv.indexOf('--write');
if (sql === '') {
  console.log('Schema and migrations agree.');
} else if (writeAt > 0) {
  const name = process.argv[writeAt + 1] ?? 'change';
  // Numbers have gaps: migrations that the baseline replaces are gone.
  const last = Math.max(...(await readdir(migrationsDir)).map((folder) => Number.parseInt(folder, 10)));
  const number = String(last + 1).padStart(4, '0');
  const folder = join(migrationsDir, `${number}_${name.replace(/[^a-z0-9_]/gi, '_')}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), `${sql}\n`);
  console.log(`Wrote prisma/migrations/${number}_${name}/migration.sql; add CHECKs and partial indexes by hand.`);
} else {
  console.error(`The Prisma schema and the migrations differ. Missing SQL:\n\n${sql}\n\nRun: npm run db:diff -- --write NAME`);
  process.exitCode = 1;
}
