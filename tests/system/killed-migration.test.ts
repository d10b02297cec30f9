/**
 * An upgrade of the database whose process ends in the middle, and one that two instances begin at once: the next start finds the database
 * unchanged or upgraded, and brings it to the release.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { applySchema, readSchemaFiles, type SchemaFiles } from '../../src/core/db/migrate.ts';
import { type StatementKill, sentStatements, watchStatements } from '../support/statement-kills.ts';
import { copiedDatabase, emptyDatabaseOnServer, migrationsFolder, onDatabase, serverUrl } from '../support/test-database.ts';
import { SCHEMA_CATALOG } from '../unit/core/schema-catalog.ts';

/** Name of the connection that the upgrade has. */
const UPGRADE = 'subscription-service-migrations: ';
/** So many of the last migrations the earlier release did not have. */
const PENDING = 5;
/** Numbers of statements of a start on an upgraded database: of those that make the tables of jobs, and of those that write the seeds. */
const AFTER_UPGRADE = [14, 40];

/** Folders and databases of this file, removed at its end. */
const removals: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
});

type KillPoint = [number: number, when: StatementKill['when']];

describe.skipIf(!serverUrl)(
  'an upgrade of the database (left out without a server: TEST_DATABASE_URL)',
  { shuffle: false },
  () => {
    let earlier: { url: string };
    let files: SchemaFiles;
    /** What a start sends that nobody ends, and the schema that it leaves. */
    let whole: { statements: string[]; schema: unknown };

    beforeAll(async () => {
      files = await readSchemaFiles(migrationsFolder);
      const database = await emptyDatabaseOnServer();
      removals.push(database.drop);
      earlier = database;
      await fillAsEarlier(database.url);
      const copy = await copyOfEarlier();
      const started = await start(copy.url);
      whole = { statements: await started.statements(), schema: await schemaOf(copy.url) };
      await started.service!.stop();
    });

    /** A database of an earlier release: without the last migrations, and with rows. */
    async function fillAsEarlier(url: string): Promise<void> {
      await onDatabase(url, async (client) => {
        const target = {
          run: async (sql: string) => void (await client.query(sql)),
          query: async (sql: string, values?: unknown[]) => (await client.query(sql, values)).rows,
        };
        await applySchema(target, { ...files, migrations: files.migrations.slice(0, -PENDING), topics: [] });
        // Raw SQL: the functions of the release cannot be created on this schema.
        await client.query(`INSERT INTO promo_groups (name) SELECT 'group ' || n FROM generate_series(1, 100) n`);
      });
    }

    async function copyOfEarlier(): Promise<{ url: string }> {
      const copy = await copiedDatabase(earlier.url);
      removals.push(copy.drop);
      return copy;
    }

    test('is complete after processes that were killed at its statements', async () => {
      const { url } = await copyOfEarlier();
      const first = whole.statements.indexOf(`${UPGRADE}BEGIN`) + 1;
      const last = whole.statements.indexOf(`${UPGRADE}COMMIT`) + 1;
      expect([first > 0, last - first > 2 * PENDING]).toEqual([true, true]);
      const beforeCommit: KillPoint[] = [
        [first + PENDING, 'sent'],
        [Math.floor((first + last) / 2), 'answered'],
        [last, 'before'],
      ];
      for (const point of beforeCommit) {
        const killed = await start(url, point);
        expect([point, killed.service, (await killed.statements()).length]).toEqual([point, null, point[0]]);
        expect([point, await appliedOn(url)]).toEqual([point, namesOf(files.migrations.slice(0, -PENDING))]);
      }
      // The answer is lost, and the server may still be at work for the client that is gone.
      expect((await start(url, [last, 'sent'])).service).toBeNull();
      await expect.poll(() => appliedOn(url)).toEqual(namesOf(files.migrations));
      for (const statement of AFTER_UPGRADE) expect((await start(url, [statement, 'sent'])).service).toBeNull();

      const { service } = await start(url);
      await expect.poll(() => isReady(service!)).toBe(true);
      expect(await schemaOf(url)).toEqual(whole.schema);
      const rows = await onDatabase(url, (client) => client.query("SELECT 1 FROM promo_groups WHERE name LIKE 'group %'"));
      expect(rows.rowCount).toBe(100);
      await service!.stop();
    });

    test('is made once by two instances that start at the same time', async () => {
      const { url } = await copyOfEarlier();
      const started = await Promise.all([start(url), start(url)]);
      for (const { service } of started) await expect.poll(() => isReady(service!)).toBe(true);
      const migrated = started.map(({ service }) => service!.log.map(migratedIn).find((count) => count !== undefined));
      expect(migrated.toSorted()).toEqual([0, PENDING + files.topics.length].toSorted());
      expect(await schemaOf(url)).toEqual(whole.schema);
      await Promise.all(started.map(({ service }) => service!.stop()));
    });
  },
);

const namesOf = (migrations: readonly { name: string }[]) => migrations.map(({ name }) => name);

/** False also where the database has not answered within a second, as on a busy machine. */
const isReady = async (service: ServiceProcess) => (await fetch(`${service.url}/readyz`)).ok;

/** What the log of a start says of how much it has applied. */
function migratedIn(line: string): number | undefined {
  return line.startsWith('{') ? (JSON.parse(line) as { migrated?: number }).migrated : undefined;
}

/** Starts the service; its process ends at the point. @returns no service where the process has ended before it was ready */
async function start(url: string, point: KillPoint | null = null) {
  const dataDir = await mkdtemp(join(tmpdir(), 'killed-migration-'));
  removals.push(() => rm(dataDir, { recursive: true, force: true }));
  const file = join(dataDir, 'statements');
  const environment = Object.assign({ DATABASE_URL: url }, watchStatements(file, point && { at: point[0], when: point[1] }));
  const service = await startServiceProcess({ environment, dataDir, program: 'src/server.ts' }).catch((error: Error) => {
    expect(error.message).toContain('The service ended with code null');
    return null;
  });
  return { service, statements: () => sentStatements(file) };
}

function appliedOn(url: string): Promise<string[]> {
  return onDatabase(url, async (client) =>
    namesOf((await client.query('SELECT name FROM schema_migrations ORDER BY name')).rows),
  );
}

/** Tables, functions and triggers of the service, the queues of jobs, and seeds. */
function schemaOf(url: string): Promise<unknown> {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query(SCHEMA_CATALOG);
    const topics = await client.query('SELECT name, checksum, objects FROM schema_sql ORDER BY name');
    const queues = await client.query('SELECT name, policy, retry_limit FROM jobs.queue ORDER BY name');
    const roles = await client.query('SELECT name, level, permissions FROM admin_roles ORDER BY name');
    return [rows, topics.rows, queues.rows, roles.rows, await appliedOn(url)];
  });
}
