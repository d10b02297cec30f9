/** Spec 07 section 9 and docs/moving-in.md: the way back after the start loses no kopek of anybody (hazard I40). */
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { endImport, exportSince, readSwitchOver } from '../../../src/domain/import/switch-over.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { aUser } from '../../support/builders.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { topUp } from '../../support/sale-samples.ts';
import { serverUrl } from '../../support/test-database.ts';

// Raw SQL of this file: it writes tables of another product, as its operator does.

/** What happens in the hours after the switch-over: top-ups of an old and a new person, a purchase, and one that is paid through a provider directly. */
async function someHours({ app, clock }: Imported): Promise<{ known: number; added: number }> {
  clock.advance(MINUTE_MS);
  const [known] = await app.db.sql<{ id: number }>(
    "SELECT min(id) AS id FROM users WHERE balance_kopeks > 0 AND status = 'active'",
  );
  const added = (await aUser(app, { email: 'new@example.com' })).id;
  await topUp(app, known!.id, 50_000);
  await topUp(app, added, 70_000);
  const sale = {
    type: 'subscription_payment',
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'balance',
  } as const;
  await postMovement(app, { ...sale, userId: added, amountKopeks: -30_000, description: 'Month, "all", of it' });
  const direct = { ...sale, paymentMethod: 'yookassa', paidThroughProvider: 'yookassa' };
  await postMovement(app, { ...direct, userId: known!.id, amountKopeks: -9_900, description: 'Paid by card' });
  return { known: known!.id, added };
}

/** The files of `import export-since`, as rows of their first columns, which hold no text of users. */
async function exported({ app }: Imported): Promise<Record<string, string[][]>> {
  const files: Record<string, string> = {};
  await exportSince(app, (await readSwitchOver(app))!, async (list, csv) => {
    files[list] = (files[list] ?? '') + csv;
  });
  return Object.fromEntries(
    Object.entries(files).map(([list, csv]) => [
      list,
      csv
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')),
    ]),
  );
}

/** Puts them back as the guide says. */
async function putBack(bot: pg.Client, { users, movements }: Record<string, string[][]>): Promise<void> {
  for (const [id, messengerId, email] of users!)
    await bot.query(
      `INSERT INTO users SELECT (jsonb_populate_record(u, jsonb_build_object('id', $1::text::int, 'telegram_id', $2::bigint, 'email', $3::text, 'balance_kopeks', 0,
         'referral_code', 'back' || $1::text, 'remnawave_uuid', NULL, 'username', NULL))).* FROM users u WHERE u.id = (SELECT min(id) FROM users)`,
      [id, messengerId, email],
    );
  for (const [id, userId, type, kopeks, change] of movements!) {
    await bot.query('UPDATE users SET balance_kopeks = balance_kopeks + $2::int WHERE id = $1', [userId, change]);
    await bot.query(
      `INSERT INTO transactions (id, user_id, type, amount_kopeks, is_completed, created_at) VALUES ($1, $2, $3, $4, true, now())`,
      [id, userId, type, kopeks],
    );
  }
}

describe.skipIf(!serverUrl)('the way back (left out without a server)', () => {
  test('after the start everybody has in the bot what they have here', async () => {
    const t = await importedFrom(['--users', '60', '--seed', '3']);
    onTestFinished(() => t.drop());
    t.clock.advance(MINUTE_MS);
    await endImport(t.app);
    const { known, added } = await someHours(t);
    const lists = await exported(t);
    expect(lists.users!.map(([id]) => Number(id))).toEqual([added]);
    expect(lists.movements!.map(([, userId, , kopeks, change]) => [userId, kopeks, change].map(Number))).toEqual([
      [known, 50_000, 50_000],
      [added, 70_000, 70_000],
      [added, -30_000, -30_000],
      [known, -9_900, 0],
    ]);
    const bot = new pg.Client({ connectionString: t.url });
    await bot.connect();
    onTestFinished(() => bot.end());
    await putBack(bot, lists);
    const there = await bot.query<{ id: number; kopeks: number }>(
      'SELECT id, greatest(coalesce(balance_kopeks, 0), 0)::int AS kopeks FROM users ORDER BY id',
    );
    const here = await t.rows<{ id: number; kopeks: number }>('SELECT id, balance_kopeks::int AS kopeks FROM users ORDER BY id');
    expect(there.rows).toEqual(here);
  });
});
