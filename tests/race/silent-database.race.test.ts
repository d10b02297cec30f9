/** A database whose answers are lost without a reset (spec 10 F1), and the probes that name it (spec 10 D5). */
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { serverClient } from '../../src/core/db/answer-limit.ts';
import { DatabaseWatch } from '../../src/core/db/database-watch.ts';
import { isDatabaseUnavailable } from '../../src/core/db/db-errors.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { createLogger } from '../../src/core/log.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { testApp } from '../support/test-app.ts';
import { freshDatabase, migrationsFolder, serverUrl, type TestDatabase } from '../support/test-database.ts';

const log = createLogger({ level: 'silent', format: 'json' });
const ANSWER_MS = 1_500;

describe.runIf(serverUrl !== null)('a database that is silent', () => {
  let database: TestDatabase;
  let proxy: CuttingProxy;
  let proxied: Awaited<ReturnType<typeof openPostgres>>;
  let admin: pg.Pool;
  let app: App;
  let server: FastifyInstance;
  let client: ApiClient;
  const instance = { isStuck: false, skewMs: 0 };

  beforeAll(async () => {
    database = await freshDatabase();
    proxy = await startCuttingProxy(database.url!);
    const limits = { connectMs: 1_000, beginMs: 10_000, transactionMs: 15_000 };
    proxied = await openPostgres({
      url: proxy.url,
      poolSize: 4,
      statementTimeoutMs: 60_000,
      answerMs: ANSWER_MS,
      migrationsFolder,
      log,
      limits,
    });
    admin = new pg.Pool({ connectionString: database.url!, max: 2, application_name: 'test-admin' });
    const made = (await testApp({ database: proxied })).app;
    const ports = {
      ...made.ports,
      instance: { ...made.ports.instance, isStuck: () => instance.isStuck, clockSkewMs: () => instance.skewMs },
    };
    app = { ...made, ports };
    server = await testServer(app);
    client = await tokenClient(app, server);
  });
  afterAll(async () => {
    await server?.close();
    await admin?.end();
    proxy?.swallow(false);
    await proxied?.close();
    await proxy?.close();
    await database?.drop();
  });

  const movements = async (userId: number) =>
    (await admin.query<{ n: number }>('SELECT count(*)::int AS n FROM transactions WHERE user_id = $1', [userId])).rows[0]!.n;
  const add = (userId: number, key: string) =>
    client.post(`/users/${userId}/balance`, { amount_kopeks: 100 }, { headers: { 'idempotency-key': key } });

  test('is 503 for as long as it is silent, and everything works again soon after, with each write made once', async () => {
    const { id } = await aUser(app);
    expect((await add(id, 'before')).status).toBe(200);
    const notices: string[] = [];
    await proxied.side.listen('silence_test', (payload) => notices.push(payload));
    proxy.swallow(true);
    // More than there are connections: reads, writes, transactions, the job queue, the connection beside the pool.
    const waiting = [
      ...Array.from({ length: 6 }, (_, i) => client.get(`/users/${id}?i=${i}`)),
      ...Array.from({ length: 6 }, (_, i) => add(id, `during-${i}`)),
    ];
    const others = [
      inTransaction(app, (t) => t.db.sql('SELECT 1 AS one')),
      proxied.jobDatabase.executeSql('SELECT 1 AS one'),
      proxied.side.sql('SELECT 1 AS one'),
    ].map((work) =>
      work.then(() => 'answered').catch((error: unknown) => (isDatabaseUnavailable(error) ? 'unavailable' : String(error))),
    );
    const began = performance.now();
    const ready = await client.get('/readyz');
    // It may have waited for a second, however busy the machine is otherwise.
    expect(performance.now() - began).toBeLessThan(ANSWER_MS * 4);
    expect(ready).toMatchObject({ status: 503, body: { detail: 'Not ready' } });
    expect((await client.get('/livez')).status).toBe(200);
    for (const reply of await Promise.all(waiting)) expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(await Promise.all(others)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    proxy.swallow(false);
    await eventually(async () => expect((await client.get('/readyz')).status).toBe(200));
    await eventually(async () => expect((await client.get(`/users/${id}`)).status).toBe(200));
    for (let i = 0; i < 6; i++) expect((await add(id, `during-${i}`)).status).toBe(200);
    expect(await movements(id)).toBe(7);
    await eventually(async () => {
      await proxied.side.sql('SELECT 1 AS one');
      await admin.query("SELECT pg_catalog.pg_notify('silence_test', 'heard')");
      expect(notices).toContain('heard');
    });
    const { rows } = await admin.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'",
    );
    expect(rows[0].n).toBe(0);
  });

  test('a connection whose answer did not come is given up: its next statement does not wait', async () => {
    const lost = serverClient({ url: proxy.url, name: 'test-lost', connectMs: 10_000, answerMs: 500 });
    lost.on('error', () => undefined);
    let isEnded = false;
    lost.once('end', () => {
      isEnded = true;
    });
    await lost.connect();
    proxy.swallow(true);
    await expect(lost.query('SELECT 1 AS one')).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    proxy.swallow(false);
    await eventually(() => expect(isEnded).toBe(true));
    await expect(lost.query('SELECT 2 AS two')).rejects.not.toMatchObject({ code: 'ETIMEDOUT' });
  });

  test('statements beside the pool that wait for a lock leave no sessions behind, however long the lock is held', async () => {
    const sessions = async () => {
      const { rows } = await admin.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'subscription-service-beside'",
      );
      return rows[0]!.n;
    };
    const holder = await admin.connect();
    const before = await sessions();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
      for (let count = 0; count < 4; count += 1)
        await expect(proxied.side.sql('SELECT count(*) AS n FROM users')).rejects.toMatchObject({
          code: expect.any(String),
        });
      await eventually(async () => expect(await sessions()).toBeLessThanOrEqual(before));
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
  });

  test('/readyz takes one connection, however often it is asked', async () => {
    await eventually(async () => expect((await client.get('/readyz')).status).toBe(200));
    proxy.swallow(true);
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.get('/readyz')));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 503));
    expect(proxied.poolCounters()).toMatchObject({ waiting: 0 });
    proxy.swallow(false);
    await eventually(async () => expect((await client.get('/readyz')).status).toBe(200));
  });

  test.each(['53100', '58030', 'XX000'])(
    'spec 10 F3: while the server gives no session (%s), reads and writes are 503, and again served as soon as it does',
    async (code) => {
      const { id } = await aUser(app);
      proxy.refuse(code);
      const replies = await Promise.all([
        client.get(`/users/${id}`),
        add(id, `refused-${code}`),
        client.post('/promo-groups', { name: `refused ${code}` }),
      ]);
      for (const reply of replies) expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
      proxy.refuse(null);
      await eventually(async () => expect((await client.get(`/users/${id}`)).status).toBe(200));
      expect((await add(id, `refused-${code}`)).status).toBe(200);
      expect(await movements(id)).toBe(1);
    },
  );

  test.each(['53100', '58030'])(
    'spec 10 F3: a write for which the disk has no room (%s) is 503, and nothing of it happened',
    async (code) => {
      const { id } = await aUser(app);
      await admin.query(
        `CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${code}'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_row()`,
      );
      try {
        expect(await add(id, `full-${code}`)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
        expect((await client.get(`/users/${id}`)).body).toMatchObject({ balance_kopeks: 0 });
      } finally {
        await admin.query('DROP TRIGGER full_disk ON ledger_entries; DROP FUNCTION refuse_row()');
      }
      expect((await add(id, `full-${code}`)).status).toBe(200);
      expect(await movements(id)).toBe(1);
    },
  );

  test('a process whose connections are lost is stuck as soon as a new connection works, and not while none does', async () => {
    const watch = new DatabaseWatch({ database: proxied, log });
    const lost = { ...proxied.silence!, answeredMsAgo: () => 121_000 };
    const stuck = new DatabaseWatch({ database: { db: { sql: () => new Promise(() => undefined) }, silence: lost }, log });
    void stuck.look();
    await eventually(() => expect(stuck.isStuck).toBe(true));
    // Also when its own statements are never answered, round after round.
    let answeredMsAgo = 0;
    const slowly = { ...lost, answeredMsAgo: () => answeredMsAgo };
    const hanging = new DatabaseWatch({
      database: { db: { sql: () => new Promise<never>(() => undefined) }, silence: slowly },
      log,
      lookMs: 20,
    });
    const unfollow = await hanging.follow();
    expect(hanging.isStuck).toBe(false);
    answeredMsAgo = 121_000;
    await eventually(() => expect(hanging.isStuck).toBe(true)).finally(unfollow);
    instance.isStuck = stuck.isStuck;
    expect(await client.get('/livez')).toMatchObject({
      status: 503,
      body: { detail: 'The database connections of this process are lost' },
    });
    instance.isStuck = false;
    const away = { ...lost, tryOutside: () => Promise.reject(new Error('refused')) };
    const innocent = new DatabaseWatch({
      database: { db: { sql: () => Promise.reject(new Error('refused')) }, silence: away },
      log,
    });
    await innocent.look();
    expect(innocent.isStuck).toBe(false);
    const busy = { ...lost, answeredMsAgo: () => 119_000 };
    const waiting = new DatabaseWatch({ database: { db: { sql: () => Promise.reject(new Error('full')) }, silence: busy }, log });
    await waiting.look();
    expect(waiting.isStuck).toBe(false);
    await watch.look();
    expect(watch.isStuck).toBe(false);
  });
});
