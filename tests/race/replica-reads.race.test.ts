/** Spec 08 S10: reads from a standby with everything that is committed, on a real pair of nodes. */
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { Database } from '../../src/core/db/database.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import type { ReplicaReads } from '../../src/core/db/replica.ts';
import { createLogger } from '../../src/core/log.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { findServerTools, type ServerTools } from '../support/archiving-cluster.ts';
import { unique } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { createStandbyCluster, type StandbyCluster } from '../support/standby-cluster.ts';
import { testApp } from '../support/test-app.ts';
import { migrationsFolder } from '../support/test-database.ts';

const tools = findServerTools();
const leftOut = typeof tools === 'string' ? ` (left out: ${tools})` : '';
const log = createLogger({ level: 'silent', format: 'json' });

describe.skipIf(leftOut !== '')(`lists and statistics are read from a standby${leftOut}`, () => {
  let cluster: StandbyCluster;
  let database: Database;
  let standby: pg.Pool;
  let app: App;
  let server: FastifyInstance;
  let client: ApiClient;
  let replica: ReplicaReads;

  const open = (url: string, replicaUrl: string | null) =>
    openPostgres({ url, replicaUrl, poolSize: 4, statementTimeoutMs: 60_000, migrationsFolder, log });

  beforeAll(async () => {
    cluster = await createStandbyCluster(tools as ServerTools);
    database = await open(cluster.url, cluster.standbyUrl);
    await database.migrate();
    standby = new pg.Pool({ connectionString: cluster.standbyUrl, max: 1 });
    standby.on('error', () => undefined);
    ({ app } = await testApp({ database }));
    replica = app.db.replica!;
    server = await testServer(app);
    client = await tokenClient(app, server);
  });
  afterAll(async () => {
    await server?.close();
    await database?.close();
    await standby?.end();
    await cluster?.remove();
  });
  beforeEach(() => eventually(async () => expect(replica.isUsable()).toBe(true)));

  const register = async () => {
    const messengerId = unique();
    const username = `reader${messengerId}`;
    expect((await client.post('/users', { messenger_id: messengerId, username })).status).toBe(200);
    return username;
  };
  const found = async (username: string) => {
    const { status, body } = await client.get(`/users?search=${username}`);
    expect(status).toBe(200);
    return body.total as number;
  };
  const answered = () => replica.counters().answered;

  test('the standby answers, with what was written just before, and a single row comes from the primary', async () => {
    const before = answered();
    for (let i = 0; i < 20; i++) expect(await found(await register())).toBe(1);
    expect(answered()).toBeGreaterThanOrEqual(before + 20);
    const between = answered();
    expect((await client.get('/users/1')).status).toBe(200);
    expect(answered()).toBe(between);
  });

  test('what a standby has not replayed yet is read from the primary: nobody misses his own write, nor another instance’s', async () => {
    const other = await open(cluster.url, null);
    try {
      await standby.query('SELECT pg_wal_replay_pause()');
      await eventually(async () =>
        expect((await standby.query('SELECT pg_get_wal_replay_pause_state() AS state')).rows).toEqual([{ state: 'paused' }]),
      );
      const username = `elsewhere${unique()}`;
      // Raw SQL: another instance, of which this one knows nothing.
      await other.db.sql(`INSERT INTO users (username, auth_type, referral_code) VALUES ($1, 'email', $1)`, [username]);
      expect(await found(username)).toBe(1);
      // The standby really has not got it: without the rule the answer would have been 0.
      expect((await standby.query('SELECT 1 FROM users WHERE username = $1', [username])).rows).toEqual([]);
      expect(replica.isUsable()).toBe(false);
      const mine = await register();
      expect(await found(mine)).toBe(1);
    } finally {
      await standby.query('SELECT pg_wal_replay_resume()');
      await other.close();
    }
  });

  test('a standby that dies is no error, and is used again when it is back', async () => {
    await cluster.stopStandby();
    for (let i = 0; i < 5; i++) expect(await found(await register())).toBe(1);
    expect(replica.isUsable()).toBe(false);
    await cluster.startStandby();
    await eventually(async () => expect(replica.isUsable()).toBe(true));
    const before = answered();
    expect(await found(await register())).toBe(1);
    expect(answered()).toBeGreaterThan(before);
  });

  test('a node of another database is never read', async () => {
    const elsewhere = await open(cluster.url, cluster.standbyUrl.replace(/\/service$/, '/postgres'));
    const itself = await open(cluster.url, cluster.url);
    try {
      await expect(elsewhere.db.replica!.db.sql('SELECT 1 AS one')).rejects.toThrow('leads to another database');
      await expect(itself.db.replica!.db.sql('SELECT 1 AS one')).rejects.toThrow('is no standby');
      await expect(itself.db.replica!.db.prisma.user.count()).rejects.toThrow('is no standby');
      expect([elsewhere.db.replica!.isUsable(), itself.db.replica!.isUsable()]).toEqual([false, false]);
    } finally {
      await elsewhere.close();
      await itself.close();
    }
  });

  test('a standby that was promoted is not read any more', async () => {
    expect(await found(await register())).toBe(1);
    await cluster.promote();
    try {
      const username = await register();
      expect(await found(username)).toBe(1);
      expect(replica.isUsable()).toBe(false);
    } finally {
      await cluster.renewStandby();
    }
  });
});
