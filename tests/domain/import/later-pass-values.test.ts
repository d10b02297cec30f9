/** Spec 07 section 9: values that only one row may have belong to other rows in a later pass. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { verifyImport } from '../../../src/domain/import/verify-import.ts';
import { importFrom, readSource, SOURCE_TIME } from '../../support/import-sources.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

const later = new Date(SOURCE_TIME.getTime() + HOUR_MS);

/** What the bot does between two passes. */
async function afterThe(change: (source: pg.Client) => Promise<unknown>, { url }: Imported): Promise<void> {
  const source = new pg.Client({ connectionString: url });
  await source.connect();
  await change(source).finally(() => source.end());
}

const indexesOf = ({ rows }: Imported) =>
  rows<{ definition: string }>(`SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`);

async function imported(version: 'v3' | 'v4'): Promise<Imported> {
  const made = await importedFrom(['--version', version, '--users', '300']);
  onTestFinished(() => made.drop());
  return made;
}

/** The pass, which finds both sides equal afterwards, with every index that there was. */
async function deltaOf(made: Imported) {
  const before = await indexesOf(made);
  const { changes, issues } = await importFrom(made.app, made.url, { isDelta: true }, later);
  expect(await readSource(made.url, later, (opened) => verifyImport(made.app, opened))).toMatchObject({
    differing: 0,
    differences: [],
  });
  expect(await made.rows('SELECT * FROM ledger_check()')).toEqual([]);
  expect(await indexesOf(made)).toEqual(before);
  return { changes: changes!, issues };
}

test.skipIf(!serverUrl)('another of several subscriptions of a user is the latest now', async () => {
  const made = await imported('v4');
  const several = made.made.several_subscriptions!.list.map(({ user_id }) => user_id);
  expect(several.length).toBeGreaterThan(0);
  const keptOf = async () =>
    new Map(
      (
        await made.rows<{ userId: number; id: number }>(
          `SELECT user_id, id FROM subscriptions WHERE user_id IN (${several.join(', ')})`,
        )
      ).map(({ userId, id }) => [userId, id]),
    );
  const before = await keptOf();
  await afterThe(
    (source) =>
      source.query(
        `UPDATE subscriptions SET end_date = now() + interval '300 days' WHERE user_id = ANY($1) AND status = 'active' AND NOT id = ANY($2)`,
        [several, [...before.values()]],
      ),
    made,
  );
  const { changes } = await deltaOf(made);
  const after = await keptOf();
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  for (const [userId, id] of after) expect(id).not.toBe(before.get(userId));
  expect(changes.subscriptions).toMatchObject({ added: after.size, removed: after.size });
});

test.skipIf(!serverUrl)('two users have exchanged what identifies them', async () => {
  const made = await imported('v3');
  const pick =
    'SELECT id, telegram_id, referral_code FROM users WHERE telegram_id IS NOT NULL AND id BETWEEN 21 AND 80 ORDER BY id LIMIT 2';
  let people: { id: number; telegram_id: string }[] = [];
  await afterThe(async (source) => {
    people = (await source.query(pick)).rows;
    await source.query('UPDATE users SET telegram_id = -id WHERE id = ANY($1)', [people.map(({ id }) => id)]);
    for (const [index, { id }] of people.entries())
      await source.query('UPDATE users SET telegram_id = $2 WHERE id = $1', [id, people[1 - index]!.telegram_id]);
  }, made);
  await deltaOf(made);
  const [one, other] = people;
  const found = await made.rows<{ id: number; messengerId: number }>(
    `SELECT id, messenger_id FROM users WHERE id IN (${one!.id}, ${other!.id}) ORDER BY id`,
  );
  expect(found).toEqual([
    { id: one!.id, messengerId: Number(other!.telegram_id) },
    { id: other!.id, messengerId: Number(one!.telegram_id) },
  ]);
});

test.skipIf(!serverUrl)('somebody who was deleted has come back as somebody new', async () => {
  const made = await imported('v3');
  const [old] = await made.rows<{ id: number; messengerId: number; email: string | null }>(
    `SELECT id, messenger_id, email FROM users u WHERE messenger_id IS NOT NULL AND id BETWEEN 21 AND 300
       AND NOT EXISTS (SELECT 1 FROM users r WHERE r.referred_by_id = u.id) AND EXISTS (SELECT 1 FROM transactions t WHERE t.user_id = u.id)
     ORDER BY id LIMIT 1`,
  );
  await afterThe(async (source) => {
    await source.query('SET session_replication_role = replica');
    const { rows } = await source.query<{ name: string }>(
      `SELECT c.conrelid::regclass::text AS name FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
       WHERE c.contype = 'f' AND c.confrelid = 'users'::regclass AND a.attname = 'user_id'`,
    );
    await source.query('CREATE TEMP TABLE deleted AS SELECT * FROM users WHERE id = $1', [old!.id]);
    for (const { name } of rows) await source.query(`DELETE FROM ${name} WHERE user_id = $1`, [old!.id]);
    await source.query('DELETE FROM users WHERE id = $1', [old!.id]);
    // Raw SQL: a row of the other product's database.
    await source.query(
      `INSERT INTO users SELECT (jsonb_populate_record(u, '{"id": 9002, "referral_code": "ref9002", "balance_kopeks": 0, "remnawave_uuid": null}')).*
       FROM deleted u`,
    );
  }, made);
  const { issues } = await deltaOf(made);
  expect(issues).toMatchObject({ user_vanished: 1 });
  expect(await made.rows(`SELECT id, status, messenger_id FROM users WHERE id IN (${old!.id}, 9002) ORDER BY id`)).toEqual([
    { id: old!.id, status: 'deleted', messengerId: null },
    { id: 9002, status: 'active', messengerId: old!.messengerId },
  ]);
});
