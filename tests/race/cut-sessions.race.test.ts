/** Database sessions that are cut in the middle of requests (spec 08 L3, S1). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { createLogger } from '../../src/core/log.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { STORE_CALLBACK } from '../../src/domain/payments/callback-repo.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { CHANGE_BALANCE } from '../../src/domain/users/account/change-balance.ts';
import { type ApiClient, type ApiReply, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { callback } from '../support/payment-samples.ts';
import { aBuyer, aTariff } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { freshDatabase, migrationsFolder, serverUrl, type TestDatabase } from '../support/test-database.ts';

const CUTS = 10;
const LANES = 6;

describe.runIf(serverUrl !== null)('sessions that are cut', () => {
  let database: TestDatabase;
  let proxy: CuttingProxy;
  let proxied: Awaited<ReturnType<typeof openPostgres>>;
  let admin: pg.Pool;
  let app: App;
  let server: FastifyInstance;
  let client: ApiClient;

  beforeAll(async () => {
    database = await freshDatabase();
    proxy = await startCuttingProxy(database.url!);
    const log = createLogger({ level: 'silent', format: 'json' });
    const limits = { connectMs: 60_000, beginMs: 60_000, transactionMs: 90_000 };
    proxied = await openPostgres({ url: proxy.url, poolSize: 8, statementTimeoutMs: 60_000, migrationsFolder, log, limits });
    admin = new pg.Pool({ connectionString: database.url!, max: 3, application_name: 'test-admin' });
    // Lanes that are refused at once send more callbacks than a minute's limit; what is cut is the subject, not the limit.
    const environment = { SALES_MODE: 'tariffs', PAYMENT_CALLBACKS_PER_MINUTE: '0' };
    app = await withProvider((await testApp({ database: proxied, environment })).app, new ScriptedProvider());
    server = await testServer(app);
    client = await tokenClient(app, server);
  });
  afterAll(async () => {
    await server?.close();
    await admin?.end();
    await proxied?.close();
    await proxy?.close();
    await database?.drop();
  });

  const add = (userId: number, key: string | null, kopeks = 100) =>
    client.post(
      `/users/${userId}/balance`,
      { amount_kopeks: kopeks },
      key === null ? {} : { headers: { 'idempotency-key': key } },
    );
  const movements = async (userId: number) =>
    (await admin.query<{ n: number }>('SELECT count(*)::int AS n FROM transactions WHERE user_id = $1', [userId])).rows[0]!.n;
  /** Cuts the session that waits for a lock, and returns when it has ended: a second cut is that of another session. */
  const cutWaiting = () =>
    eventually(async () => {
      const { rows } = await admin.query<{ cut: boolean }>(
        `SELECT pg_terminate_backend(pid, 60000) AS cut FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'subscription-service'`,
      );
      expect(rows.length).toBeGreaterThan(0);
    });
  /** Runs `work` while another session has what `lock` locks; the sessions that wait for it are cut `times` times. */
  async function cutWhileItWaits(lock: string, times: number, work: () => Promise<ApiReply>): Promise<ApiReply> {
    const holder = await admin.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(lock);
      const working = work();
      for (let i = 0; i < times; i++) await cutWaiting();
      await holder.query('COMMIT');
      return await working;
    } finally {
      holder.release();
    }
  }

  test('in the middle of a read are tried a second time, and cut twice they are 503 with Retry-After, on both transports', async () => {
    const { id } = await aUser(app);
    const lock = 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE';
    for (const path of [`/users/${id}`, `/trpc/web.users.get?input=${encodeURIComponent(JSON.stringify({ user_id: id }))}`]) {
      expect((await client.get(path)).status, path).toBe(200);
      expect((await cutWhileItWaits(lock, 1, () => client.get(path))).status, path).toBe(200);
      const refused = await cutWhileItWaits(lock, 2, () => client.get(path));
      expect(refused, path).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    }
  });

  test('in the middle of a money write: with a key the second attempt does it, without one it is 503 and nothing happened', async () => {
    const { id } = await aUser(app);
    const lock = `SELECT 1 FROM users WHERE id = ${id} FOR UPDATE`;
    expect((await cutWhileItWaits(lock, 1, () => add(id, 'cut-in-the-middle'))).status).toBe(200);
    expect(await movements(id)).toBe(1);
    const refused = await cutWhileItWaits(lock, 1, () => add(id, null));
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(await movements(id)).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    '%s a balance change is carried out: with a key one movement and its answer',
    async (when) => {
      const { id } = await aUser(app);
      const before = proxy.cuts();
      proxy.cutAt(CHANGE_BALANCE, when);
      const answered = await add(id, `change-${when}`);
      expect(answered.status).toBe(200);
      expect(proxy.cuts()).toBe(before + 1);
      expect(await movements(id)).toBe(1);
      expect((await add(id, `change-${when}`)).body).toEqual(answered.body);
      expect(await movements(id)).toBe(1);
    },
  );

  test('a balance change is carried out but not answered, without a key: 503, and nothing is done twice', async () => {
    const { id } = await aUser(app);
    proxy.cutAt(CHANGE_BALANCE, 'after');
    expect(await add(id, null)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(await movements(id)).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    '%s COMMIT of a purchase is carried out: with a key one sale and its answer',
    async (when) => {
      const buyer = await aBuyer(app, 100_000);
      const order = { tariffId: await aTariff(app), periodDays: 30, trafficGb: null, idempotencyKey: `purchase-${when}` };
      const before = { cuts: proxy.cuts(), movements: await movements(buyer.userId) };
      proxy.cutAt('COMMIT', when);
      const answered = await purchaseTariff(app, buyer, order);
      expect(proxy.cuts()).toBe(before.cuts + 1);
      expect(await movements(buyer.userId)).toBe(before.movements + 1);
      expect(await purchaseTariff(app, buyer, order)).toEqual(answered);
      expect(await movements(buyer.userId)).toBe(before.movements + 1);
    },
  );

  test('an Idempotency-Key on an operation that has none: 503, no second attempt', async () => {
    const { id } = await aUser(app);
    const change = () => client.patch(`/users/${id}`, { first_name: 'Anew' }, { headers: { 'idempotency-key': 'not-used' } });
    const refused = await cutWhileItWaits(`SELECT 1 FROM users WHERE id = ${id} FOR UPDATE`, 1, change);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    const { rows } = await admin.query('SELECT first_name FROM users WHERE id = $1', [id]);
    expect(rows[0].first_name).not.toBe('Anew');
  });

  test.each(['before', 'after'] as const)(
    'a provider’s callback cut %s it is stored: stored once and acknowledged',
    async (when) => {
      const before = proxy.cuts();
      proxy.cutAt(STORE_CALLBACK, when);
      const eventId = `cut-${when}`;
      expect(await callback(app, `paid-${when}`, { eventId })).toMatchObject({ status: 200 });
      expect(proxy.cuts()).toBe(before + 1);
      const { rows } = await admin.query(
        `SELECT (SELECT count(*)::int FROM provider_callbacks WHERE external_id = $1) AS stored,
         (SELECT count(*)::int FROM jobs.job j JOIN provider_callbacks c ON c.id = (j.data ->> 'callbackId')::int
           WHERE j.name = 'payments.callback' AND c.external_id = $1) AS jobs`,
        [`paid-${when}`],
      );
      expect(rows[0]).toEqual({ stored: 1, jobs: 1 });
    },
  );

  test('all of them, again and again, under reads, money writes and callbacks: only 200 and 503, each key one movement', async () => {
    const { id } = await aUser(app);
    const statuses = new Set<number>();
    const withoutPause: ApiReply[] = [];
    const sent: { key: string; isDone: boolean }[] = [];
    const events: string[] = [];
    let isOver = false;
    const recorded = (reply: ApiReply): ApiReply => {
      statuses.add(reply.status);
      if (reply.status !== 200 && reply.headers['retry-after'] !== '5') withoutPause.push(reply);
      return reply;
    };
    const lanes = Array.from({ length: LANES }, async (_lane, lane) => {
      for (let i = 0; !isOver; i++) {
        if (lane % 3 === 0) recorded(await client.get(`/users/${id}`));
        else if (lane % 3 === 1) {
          const write = { key: `again-${lane}-${i}`, isDone: false };
          sent.push(write);
          write.isDone = recorded(await add(id, write.key, 1)).status === 200;
        } else {
          const eventId = `again-${lane}-${i}`;
          const reply = await callback(app, eventId, { eventId }).catch(() => null);
          if (reply) {
            expect(reply.status).toBe(200);
            events.push(eventId);
          }
        }
        // Lanes that are refused before any statement would leave the event loop no turn, in which sessions are opened again.
        await nextTurn();
      }
    });
    const cutting = async () => {
      for (let cut = 0; cut < CUTS; cut++) {
        const done = sent.length;
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'subscription-service'`,
        );
        await eventually(() => expect(sent.length, `after cut ${cut}: ${[...statuses]}`).toBeGreaterThan(done + 5));
      }
    };
    try {
      // A lane that fails is the cause, not the cuts that wait for it.
      await Promise.race([cutting(), Promise.all(lanes)]);
    } finally {
      isOver = true;
    }
    await Promise.all(lanes);
    expect(withoutPause).toEqual([]);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(200);
    // What was refused is sent again by its client.
    for (const { key, isDone } of sent) if (!isDone) expect((await add(id, key, 1)).status).toBe(200);
    expect(await movements(id)).toBe(sent.length);
    const { rows } = await admin.query<{ stored: number }>(
      'SELECT count(*)::int AS stored FROM provider_callbacks WHERE external_id = ANY ($1::text[])',
      [events],
    );
    expect(rows[0]!.stored).toBe(events.length);
    expect(await checkLedger(app)).toEqual([]);
  });
});
