/** Spec 07 section 9: what a pass after the first takes over, and when none can follow (hazards I3, I24, I26). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { endImport } from '../../../src/domain/import/switch-over.ts';
import { NEEDED_LOCKS } from '../../../src/domain/import/target-limits.ts';
import { verifyImport } from '../../../src/domain/import/verify-import.ts';
import { anEmptyService, importFrom, makeSource, readSource, SOURCE_TIME } from '../../support/import-sources.ts';
import { copiedDatabase, emptyDatabaseOnServer, serverUrl } from '../../support/test-database.ts';

const later = new Date(SOURCE_TIME.getTime() + HOUR_MS);

/** A database of the bot and that of a service into which it was imported once: made once, each test has copies. */
let first: { source: string; service: string; drop: () => Promise<void> };

async function makeFirst(): Promise<void> {
  const source = await emptyDatabaseOnServer();
  await makeSource(source.url, ['--users', '40', '--now', SOURCE_TIME.toISOString()]);
  const { app, database } = await anEmptyService();
  await importFrom(app, source.url);
  await database.close();
  const drop = async () => {
    await database.drop();
    await source.drop();
  };
  first = { source: source.url, service: database.url!, drop };
}

/** A service into which a database of the bot was imported once, with a connection to that database. */
async function anImportedService() {
  const source = await copiedDatabase(first.source);
  onTestFinished(() => source.drop());
  const old = new pg.Client({ connectionString: source.url });
  await old.connect();
  onTestFinished(() => old.end());
  const { app, drop } = await anEmptyService(first.service);
  onTestFinished(drop);
  return { app, old, url: source.url, delta: () => importFrom(app, source.url, { isDelta: true }, later) };
}

async function contentsOf(app: App): Promise<string> {
  const digest = (table: string) => `(SELECT md5(string_agg(to_jsonb(r)::text, ',' ORDER BY id)) FROM ${table} r)`;
  const tables = ['users', 'transactions', 'payments', 'ledger_entries'].map(digest);
  const [row] = await app.db.sql<{ contents: string }>(`SELECT concat_ws(' ', ${tables.join(', ')}) AS contents`);
  return row!.contents;
}

describe.skipIf(!serverUrl)('a later pass (left out without a server: TEST_DATABASE_URL)', () => {
  beforeAll(makeFirst);
  afterAll(() => first.drop());

  test('of an unchanged source changes nothing, and says so', async () => {
    const { app, url } = await anImportedService();
    const before = await contentsOf(app);
    const { pass, changes } = await importFrom(app, url, {}, later);
    expect(pass).toBe(2);
    for (const [table, counts] of Object.entries(changes!))
      expect([table, counts]).toEqual([table, { added: 0, changed: 0, removed: 0 }]);
    expect(await contentsOf(app)).toBe(before);
  });

  test('of an unchanged database of v4 changes nothing', async () => {
    const source = await emptyDatabaseOnServer();
    onTestFinished(() => source.drop());
    await makeSource(source.url, ['--version', 'v4', '--users', '40', '--now', SOURCE_TIME.toISOString()]);
    const { app, drop } = await anEmptyService();
    onTestFinished(drop);
    await importFrom(app, source.url);
    const { changes } = await importFrom(app, source.url, { isDelta: true }, later);
    expect(Object.entries(changes!).filter(([, { added, changed, removed }]) => added + changed + removed > 0)).toEqual([]);
  });

  test('has fewer locks at its end than a server must have room for', async () => {
    const { app, old, delta } = await anImportedService();
    await old.query(`UPDATE users SET last_name = 'There' WHERE id = 8`);
    await app.db.sql('CREATE SCHEMA measured');
    await app.db.sql('CREATE TABLE measured.locks AS SELECT count(*) AS locks FROM pg_locks WHERE false');
    // Raw SQL: a table of this test.
    await app.db.sql(
      `CREATE FUNCTION measured.count_locks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO measured.locks SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid(); RETURN NULL; END $$`,
    );
    // The report is stored when the tables are closed again.
    await app.db.sql(
      'CREATE TRIGGER count_locks AFTER UPDATE OF report ON import_runs FOR EACH STATEMENT EXECUTE FUNCTION measured.count_locks()',
    );
    await delta();
    const [measured] = await app.db.sql<{ locks: number }>('SELECT max(locks)::int AS locks FROM measured.locks');
    expect(measured!.locks).toBeGreaterThan(1_000);
    expect(measured!.locks).toBeLessThan(NEEDED_LOCKS * 0.7);
  });

  test('takes over new, changed and vanished rows, though no updated_at has moved', async () => {
    const { app, old, url, delta } = await anImportedService();
    const rename = await old.query(
      `UPDATE users SET first_name = 'Renamed', balance_kopeks = balance_kopeks + 700 WHERE id = 5 RETURNING id`,
    );
    expect(rename.rowCount).toBe(1);
    // Raw SQL: rows of the other product's database.
    await old.query(`INSERT INTO users SELECT (jsonb_populate_record(u, '{"id": 9001, "telegram_id": 900100, "referral_code": "ref9001", "email": null, "balance_kopeks": 4300, "remnawave_uuid": null, "username": "late"}')).*
      FROM users u WHERE id = 6`);
    // Raw SQL: as before.
    await old.query(`INSERT INTO transactions SELECT (jsonb_populate_record(t, '{"id": 90001, "user_id": 9001, "type": "deposit", "amount_kopeks": 4300, "external_id": "late-1", "is_completed": true, "payment_method": "yookassa"}')).*
      FROM transactions t WHERE id = 1`);
    const [changed] = (
      await old.query(
        `UPDATE transactions SET amount_kopeks = amount_kopeks + 100 WHERE id = (SELECT min(id) FROM transactions WHERE type = 'deposit' AND is_completed) RETURNING id`,
      )
    ).rows;
    const [ended] = (
      await old.query(
        `UPDATE transactions SET is_completed = true, completed_at = created_at WHERE is_completed = false RETURNING id`,
      )
    ).rows;
    const [gone] = (
      await old.query(
        `DELETE FROM transactions WHERE id = (SELECT max(id) FROM transactions WHERE type = 'subscription_payment') RETURNING id`,
      )
    ).rows;
    const [user] = (
      await old.query(
        `SELECT u.id FROM users u WHERE u.id BETWEEN 21 AND 40 AND NOT EXISTS (SELECT 1 FROM transactions t WHERE t.user_id = u.id) AND NOT EXISTS (SELECT 1 FROM users r WHERE r.referred_by_id = u.id) LIMIT 1`,
      )
    ).rows;
    await old.query('DELETE FROM user_promo_groups WHERE user_id = $1', [user.id]);
    await old.query('DELETE FROM subscriptions WHERE user_id = $1', [user.id]);
    await old.query('DELETE FROM users WHERE id = $1', [user.id]);

    const { changes, issues } = await delta();
    expect(changes!.users).toEqual({ added: 1, changed: 1, removed: 0 });
    expect(changes!.transactions).toMatchObject({ added: 1 });
    expect(issues).toMatchObject({ transaction_changed: 1, transaction_vanished: 1, user_vanished: 1 });
    const rows = await app.db.sql(
      `SELECT id, first_name, status, balance_kopeks, (SELECT sum(e.kopeks)::bigint FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id WHERE a.user_id = u.id) AS posted
       FROM users u WHERE id IN (5, 9001, ${user.id}) ORDER BY id`,
    );
    expect(rows).toContainEqual(expect.objectContaining({ id: 5, firstName: 'Renamed' }));
    expect(rows).toContainEqual(expect.objectContaining({ id: 9001, balanceKopeks: 4300, posted: 4300 }));
    expect(rows).toContainEqual(expect.objectContaining({ id: Number(user.id), status: 'deleted' }));
    const corrections = await app.db.sql(
      `SELECT amount_kopeks, is_internal FROM transactions WHERE external_id = 'correction:${changed.id}:2'`,
    );
    expect(corrections).toEqual([{ amountKopeks: 100, isInternal: true }]);
    const kept = await app.db.sql(`SELECT is_completed FROM transactions WHERE id IN (${ended.id}, ${gone.id})`);
    expect(kept).toEqual([{ isCompleted: true }, { isCompleted: true }]);
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
    const verified = await readSource(url, later, (opened) => verifyImport(app, opened));
    expect(verified).toMatchObject({ differing: 0, differences: [] });
  });

  test('takes over a posted movement that changes again and again', async () => {
    const { app, old, url, delta } = await anImportedService();
    const [movement] = (
      await old.query<{ id: number; kopeks: number }>(
        `SELECT id, amount_kopeks AS kopeks FROM transactions WHERE type = 'deposit' AND is_completed AND amount_kopeks > 0 ORDER BY id LIMIT 1`,
      )
    ).rows;
    const { id, kopeks } = movement!;
    const history = async () => {
      const [sum] = await app.db.sql<{ kopeks: number }>(
        `SELECT sum(e.kopeks)::bigint AS kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id JOIN transactions t ON t.id = e.transaction_id
         WHERE a.key = 'import:history' AND (t.id = ${id} OR t.external_id LIKE 'correction:${id}:%')`,
      );
      return sum!.kopeks;
    };
    const changes: readonly [change: string, history: number][] = [
      ['amount_kopeks = amount_kopeks + 100', kopeks + 100],
      ['amount_kopeks = amount_kopeks + 50', kopeks + 150],
      ['is_completed = false', 0],
      ['is_completed = true', kopeks + 150],
    ];
    for (const [change, expected] of changes) {
      await old.query(`UPDATE transactions SET ${change} WHERE id = ${id}`);
      const { issues } = await delta();
      expect([change, issues.transaction_changed, await history()]).toEqual([change, 1, expected]);
    }
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
    expect((await delta()).changes!.transactions).toEqual({ added: 0, changed: 0, removed: 0 });
    const verified = await readSource(url, later, (opened) => verifyImport(app, opened));
    expect(verified).toMatchObject({ differing: 0, differences: [] });
  });

  test('takes over a user and movements that an earlier pass had missed and that are back', async () => {
    const { app, old, url, delta } = await anImportedService();
    const ids = async (query: string) => (await old.query<{ id: number }>(query)).rows.map(({ id }) => id).join(', ');
    const user = await ids(
      `SELECT u.id FROM users u WHERE u.id BETWEEN 21 AND 40 AND NOT EXISTS (SELECT 1 FROM transactions t WHERE t.user_id = u.id)
         AND NOT EXISTS (SELECT 1 FROM users r WHERE r.referred_by_id = u.id) AND EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = u.id) LIMIT 1`,
    );
    const movements = await ids(
      `(SELECT id FROM transactions WHERE type = 'subscription_payment' AND is_completed ORDER BY id DESC LIMIT 1)
       UNION ALL (SELECT id FROM transactions WHERE NOT is_completed ORDER BY id DESC LIMIT 1)`,
    );
    const missed = Object.entries({
      transactions: `id IN (${movements})`,
      user_promo_groups: `user_id = ${user}`,
      subscriptions: `user_id = ${user}`,
      users: `id = ${user}`,
    });
    for (const [table, which] of missed) {
      await old.query(`CREATE TEMP TABLE missed_${table} AS SELECT * FROM ${table} WHERE ${which}`);
      await old.query(`DELETE FROM ${table} WHERE ${which}`);
    }
    expect((await delta()).issues).toMatchObject({ transaction_vanished: 2, user_vanished: 1 });
    // Raw SQL: rows of the other product's database.
    for (const [table] of missed.toReversed()) await old.query(`INSERT INTO ${table} SELECT * FROM missed_${table}`);
    await old.query(`UPDATE users SET balance_kopeks = balance_kopeks + 500 WHERE id = ${user}`);
    const before = await app.db.sql<{ kopeks: number }>(`SELECT balance_kopeks AS kopeks FROM users WHERE id = ${user}`);
    expect((await delta()).changes).toMatchObject({
      users: { added: 0, changed: 1, removed: 0 },
      transactions: { added: 0, changed: 2, removed: 0 },
    });
    const after = await app.db.sql(`SELECT status, balance_kopeks AS kopeks FROM users WHERE id = ${user}`);
    expect(after).toEqual([{ status: 'active', kopeks: before[0]!.kopeks + 500 }]);
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
    const verified = await readSource(url, later, (opened) => verifyImport(app, opened));
    expect(verified).toMatchObject({ differing: 0, differences: [] });
    expect((await delta()).changes!.transactions).toEqual({ added: 0, changed: 0, removed: 0 });
  });

  test('a row that was changed here, too, stops one, and nothing is changed', async () => {
    const { app, old, delta } = await anImportedService();
    await old.query(`UPDATE users SET last_name = 'There' WHERE id = 8`);
    await app.db.sql(`UPDATE users SET last_name = 'Here' WHERE id = 8 RETURNING id`);
    const before = await contentsOf(app);
    await expect(delta()).rejects.toMatchObject({ code: 'target_changed', details: { table: 'users', rows: 1 } });
    expect(await contentsOf(app)).toBe(before);
  });

  test('without a first one is refused', async () => {
    const { app, drop } = await anEmptyService();
    onTestFinished(drop);
    await expect(importFrom(app, first.source, { isDelta: true })).rejects.toMatchObject({ code: 'no_earlier_pass' });
  });

  test('with another option is refused', async () => {
    const { app, url } = await anImportedService();
    await expect(importFrom(app, url, { withLogs: true }, later)).rejects.toMatchObject({ code: 'options_changed' });
  });

  test('cannot follow a start of the service', async () => {
    const { app, delta } = await anImportedService();
    await endImport(app);
    await expect(delta()).rejects.toMatchObject({ code: 'target_changed', message: expect.stringContaining('was started') });
    expect(await app.db.sql(`SELECT count(*) AS schemas FROM pg_namespace WHERE nspname LIKE 'import\\_%'`)).toEqual([
      { schemas: 0 },
    ]);
  });
});
