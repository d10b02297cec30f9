/**
 * The upgrade of each release of which a dump is kept (docs/releases.md): two instances start at once on its database while money is moved,
 * and everything that the release had answered is found again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, until } from '../../packages/measures/src/demo/http.ts';
import { createInstance, type Instance } from '../../packages/measures/src/drills/instance.ts';
import { startMoneyLoad } from '../../packages/measures/src/drills/money-load.ts';
import { readMovements } from '../../packages/measures/src/drills/money-proof.ts';
import { compareMovements } from '../../packages/measures/src/drills/movement-check.ts';
import { createRandom } from '../../packages/measures/src/drills/seeded-random.ts';
import { WriteBook } from '../../packages/measures/src/drills/write-book.ts';
import { type AskedAnswer, askAll } from '../../scripts/release/asked-answers.ts';
import {
  keptReleases,
  RELEASE_ENVIRONMENT,
  type ReleaseFacts,
  readDump,
  readFacts,
} from '../../scripts/release/release-facts.ts';
import { ADMINISTRATOR, signIn, UNREACHABLE } from '../../scripts/release/release-past.ts';
import { readAccounts, readStoredFacts, readSubscriptions, type StoredFacts } from '../../scripts/release/stored-facts.ts';
import { comparableAnswer, readCatalog, restoreRelease } from '../support/release-database.ts';
import { runCommand } from '../support/run-cli.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const WRITES_AFTER_START = 40;
const LOAD = { clients: { balance: 4, purchase: 0, callback: 0, read: 1 }, pauseMs: 20 };
/** Tables whose rows the service joins: topics of SQL, and increments of counters. */
const SHRINKING = new Set(['schema_sql', 'statistics_days']);

describe.skipIf(!serverUrl).each(keptReleases())(
  'an upgrade from %s (left out without a server: TEST_DATABASE_URL)',
  (version) => {
    let facts: ReleaseFacts;
    let database: { url: string; drop(): Promise<void> };
    let client: pg.Client;
    let receiver: Receiver;
    let folder: string;
    let instances: Instance[];
    let before: Awaited<ReturnType<typeof readCatalog>>;
    let after: StoredFacts;
    const book = new WriteBook();

    beforeAll(async () => {
      facts = readFacts(version);
      [database, receiver] = await Promise.all([emptyDatabaseOnServer(), startReceiver()]);
      folder = await mkdtemp(join(tmpdir(), 'release-upgrade-'));
      await restoreRelease(database.url, readDump(version), { dumpedAt: facts.dumpedAt, webhookUrl: receiver.url });
      client = new pg.Client({ connectionString: database.url });
      await client.connect();
      before = await readCatalog(client);
      // The level of the dump: it is among the settings.
      const environment = { ...RELEASE_ENVIRONMENT, LOG_LEVEL: 'info', DATABASE_URL: database.url };
      const names = ['first', 'second'];
      instances = await Promise.all(
        names.map((name) => createInstance(name, { ...environment, DATA_DIR: join(folder, name) }, folder)),
      );
      await upgradeUnderLoad();
      after = await readStoredFacts(client);
    });
    afterAll(async () => {
      await Promise.all(instances?.map((instance) => instance.stop()) ?? []);
      for (const instance of instances ?? []) instance.close();
      await client?.end();
      await receiver?.close();
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    });

    /** The load begins before the instances listen, and ends when both have made writes on the upgraded database. */
    async function upgradeUnderLoad(): Promise<void> {
      const { loadedUserIds, credentials } = facts;
      const noPayments = { tariffId: 0, priceKopeks: 0, callbackSecret: '', payments: [], tokenOf: () => '' };
      const target = { ...noPayments, apiToken: credentials.apiToken, userIds: loadedUserIds };
      const load = startMoneyLoad(target, book, createRandom(1), { ...LOAD, urls: instances.map(({ url }) => url) });
      await Promise.all(instances.map((instance) => instance.start()));
      const first = book.successes.length;
      await until(
        'writes on the upgraded database',
        async () => book.successes.length - first,
        (count) => count >= WRITES_AFTER_START,
      );
      await load.stop(120_000);
    }

    test('is made once, and both instances serve without an error', async () => {
      expect(instances.flatMap(({ crashes }) => crashes)).toEqual([]);
      const { rows } = await client.query(
        'SELECT name, count(*)::int AS n FROM schema_migrations GROUP BY 1 HAVING count(*) > 1',
      );
      expect(rows).toEqual([]);
      expect(book.unexpected).toEqual([]);
      expect(book.total((status) => status === 500)).toBe(0);
      expect(book.problems.get('ECONNREFUSED')).toBeGreaterThan(0);
    });

    test('makes each acknowledged write once, and no balance differs from its movements', async () => {
      const movements = await readMovements(async (text) => (await client.query(text)).rows, facts.stored.last.transactionId);
      const { unknown, ...differences } = compareMovements(book.writes, movements);
      expect(differences).toEqual({ lost: [], doubled: [], changed: [], unanswered: [] });
      expect(unknown).toEqual([]);
      const expected = { ...facts.stored.balances };
      for (const { userId, amountKopeks } of movements) expected[userId] = expected[userId]! + amountKopeks;
      expect(after.balances).toEqual(expected);
      const check = await runCommand(['ledger', 'check', '--full'], {
        ...RELEASE_ENVIRONMENT,
        DATABASE_URL: database.url,
        DATA_DIR: join(folder, 'command'),
      });
      expect([check.code, check.out]).toEqual([0, expect.stringContaining('The ledger is clean')]);
    });

    test('leaves accounts and subscriptions as they were', async () => {
      expect(await readAccounts(client, facts.stored.last.entryId)).toEqual(facts.stored.accounts);
      expect(await readSubscriptions(client)).toEqual(facts.stored.subscriptions);
    });

    test('loses no row of any table', () => {
      const { rows, states } = facts.stored;
      const fewer = Object.entries(rows).filter(([table, count]) => !SHRINKING.has(table) && (after.rows[table] ?? -1) < count);
      expect(fewer.map(([table, count]) => `${table}: ${count}, now ${after.rows[table]}`)).toEqual([]);
      for (const column of [
        'users.status',
        'payments.status',
        'subscriptions.status',
        'tickets.status',
        'guest_purchases.status',
      ])
        expect([column, after.states[column]]).toEqual([column, states[column]]);
    });

    test('answers what the release answered', async () => {
      const asked = await askAll(instances[1]!.url, facts.credentials, facts.dumpedAt);
      const answers = JSON.parse(JSON.stringify(facts.answers).replaceAll(UNREACHABLE, receiver.url)) as AskedAnswer[];
      for (const [index, { path, body }] of answers.entries()) {
        const [was, is] = [body, asked[index]!.body].map((one) => comparableAnswer(one, new Set(facts.loadedUserIds)));
        expect({ path, body: is }).toMatchObject({ path, body: was });
      }
    });

    test('accepts the credentials of before, and no revoked token', async () => {
      const { url } = instances[0]!;
      const revoked = createRequester(url, { 'x-api-key': facts.credentials.revokedApiToken });
      expect((await revoked.get('/users')).status).toBe(401);
      const administrator = await signIn(url, ADMINISTRATOR);
      expect((await administrator.get('/cabinet/admin/users')).status).toBe(200);
    });

    test('repeats the answer to a key of before, and moves no money for it', async () => {
      const { answeredWrite, credentials, stored } = facts;
      const operator = createRequester(instances[0]!.url, { 'x-api-key': credentials.apiToken });
      const again = await operator.post(answeredWrite.path, answeredWrite.body, { 'idempotency-key': answeredWrite.key });
      expect(again.body).toMatchObject(answeredWrite.answer as object);
      const { rows } = await client.query('SELECT id FROM transactions WHERE description = $1', ['answered before the dump']);
      expect(rows).toEqual([{ id: expect.any(Number) }]);
      expect(rows[0].id).toBeLessThanOrEqual(stored.last.transactionId);
    });

    test('does the jobs that waited, each once', async () => {
      const { waitingJobs, waitingDeliveries } = facts.stored;
      expect(waitingDeliveries.length).toBeGreaterThan(0);
      const waiting = async () =>
        (
          await client.query<{ n: number }>(
            "SELECT count(*)::int AS n FROM jobs.job WHERE id = ANY($1::uuid[]) AND state IN ('created', 'retry', 'active')",
            [waitingJobs],
          )
        ).rows[0]!.n;
      await expect.poll(waiting).toBe(0);
      const { rows } = await client.query("SELECT name FROM jobs.job WHERE id = ANY($1::uuid[]) AND state = 'failed'", [
        waitingJobs,
      ]);
      expect(rows).toEqual([]);
      const states = await client.query('SELECT DISTINCT status FROM webhook_deliveries WHERE id = ANY($1)', [waitingDeliveries]);
      expect(states.rows).toEqual([{ status: 'success' }]);
      const ids = receiver.calls.map(({ headers }) => headers['webhook-id']);
      expect(ids.length).toBe(new Set(ids).size);
      expect(ids.length).toBeGreaterThanOrEqual(waitingDeliveries.length);
    });

    test('takes nothing away that instances of the release use', async () => {
      const now = await readCatalog(client);
      for (const kind of ['columns', 'functions'] as const)
        expect(before[kind].filter((one) => !now[kind].includes(one))).toEqual([]);
      const added = now.columns.filter((one) => !before.columns.includes(one));
      const tables = new Set(before.columns.map((one) => one.split('.')[0]));
      expect(added.filter((one) => tables.has(one.split('.')[0]) && now.required.includes(one))).toEqual([]);
    });
  },
);
