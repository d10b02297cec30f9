import { beforeAll, expect, test } from 'vitest';
import { countTransactionsByDay } from '../../../src/domain/ledger/transactions.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { COUNTERS } from './counter-table.ts';

// Raw SQL of this file: statements that are drawn at random.
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

/** Numbers that are the same in every run (Mulberry32). @returns a whole number from 0 up to `bound` without it */
function seededRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

/** Statements by kind. `pick` and the rest draw SQL values. */
function changes(random: (bound: number) => number): Record<string, () => string> {
  const one = (...values: string[]) => values[random(values.length)]!;
  const flag = () => one('true', 'false');
  const timestamp = () => `timestamptz '2026-03-01 22:30+00' + interval '${random(96)} hours'`;
  const row = (table: string, where = 'true') =>
    `(SELECT id FROM ${table} WHERE ${where} ORDER BY md5(id::text || '${random(1e9)}') LIMIT 1)`;
  /** One of a few users, so that their registrations, subscriptions and payments meet. */
  const member = () => row('users', 'id <= (SELECT min(id) + 7 FROM users)');
  const registrant = () =>
    `(SELECT user_id FROM advertising_campaign_registrations ORDER BY md5(id::text || '${random(1e9)}') LIMIT 1)`;
  const status = () => one("'active'", "'blocked'", "'deleted'");
  const state = () => one("'trial'", "'active'", "'expired'", "'limited'");
  const squads = () => one('\'["a"]\'', '\'["a", "b"]\'', '\'["b", "c", "b"]\'', "'[]'");
  const withdrawal = () => one("'pending'", "'approved'", "'completed'");
  const outcome = () => one("'pending'", "'paid'", "'failed'", "'expired'", "'amount_mismatch'", "'refunded'");
  const group = () => one('NULL', row('promo_groups'));
  const set = (table: string, assignment: string, where = 'true') =>
    `UPDATE ${table} SET ${assignment} WHERE id = ${row(table, where)}`;
  let serial = 0;
  const code = () => `'c${serial++}'`;
  const post = (type: string, kopeks: number, contra: string, method: string, external: string, internal = 'false') =>
    `SELECT outcome FROM post_transaction(${member()}, '${type}', ${kopeks}, ${contra}, ${method}, ${external}, 'test', now(),
       ${timestamp()}, ${internal})`;
  return {
    addUsers: () =>
      `INSERT INTO users (referral_code, status, promo_group_id, referred_by_id, has_made_first_topup, created_at) VALUES
        (${code()}, ${status()}, ${group()}, ${one('NULL', row('users'))}, ${flag()}, ${timestamp()}),
        (${code()}, 'active', NULL, ${row('users')}, ${flag()}, ${timestamp()})`,
    changeStatus: () => set('users', `status = ${status()}`),
    changeGroup: () => set('users', `promo_group_id = ${group()}`),
    changeDay: () => set('users', `created_at = ${timestamp()}, last_activity = ${one('NULL', timestamp())}`),
    changeReferrer: () => set('users', `referred_by_id = ${one('NULL', row('users'))}, has_made_first_topup = ${flag()}`),
    changeFlag: () => `UPDATE users SET has_had_paid_subscription = ${flag()} WHERE id = ${registrant()}`,
    changePaid: () =>
      `UPDATE users SET has_had_paid_subscription = id % 3 <> ${random(3)} WHERE id IN (SELECT id FROM users ORDER BY id LIMIT 8)`,
    removeUser: () =>
      'DELETE FROM users WHERE id = (SELECT min(id) FROM users WHERE id NOT IN (SELECT user_id FROM transactions))',
    link: () => set('users', one(`vk_id = ${random(1e9)}`, 'vk_id = NULL', `google_id = ${code()}`, "auth_type = 'email'")),
    addTariff: () => `INSERT INTO tariffs (name, period_prices) VALUES (${code()}, '{}')`,
    removeTariff: () => `DELETE FROM tariffs WHERE id = ${row('tariffs')} AND (SELECT count(*) FROM tariffs) > 3`,
    buyTraffic: () =>
      `INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
       VALUES (${row('subscriptions')}, ${one('5', '10')}, now(), ${timestamp()})`,
    dropTraffic: () => `DELETE FROM traffic_purchases WHERE id = ${row('traffic_purchases')}`,
    connect: () =>
      `INSERT INTO subscription_servers AS s (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
       VALUES (${row('subscriptions')}, ${row('server_squads')}, ${random(3)}, ${timestamp()})
       ON CONFLICT (subscription_id, server_squad_id) DO UPDATE SET paid_price_kopeks = s.paid_price_kopeks + EXCLUDED.paid_price_kopeks`,
    disconnect: () => `DELETE FROM subscription_servers WHERE id = ${row('subscription_servers')}`,
    addGroup: () => `INSERT INTO promo_groups (name) VALUES (${code()})`,
    deposit: () => post('deposit', 1 + random(90_000), "'provider_clearing', 'provider:x'", one("'x'", "'y'"), code()),
    bonus: () => post('deposit', 1 + random(900), "'bonus', 'bonus:x'", one("'manual'", 'NULL'), 'NULL', flag()),
    invoice: () =>
      `INSERT INTO payments (method, order_id, amount_kopeks, status, outcome, is_paid, purpose, created_at)
       VALUES (${one("'x'", "'y'")}, ${code()}, 100, 'x', ${outcome()}, ${flag()}, 'guest_purchase', ${timestamp()})`,
    changeInvoice: () =>
      set(
        'payments',
        one(`outcome = ${outcome()}`, `is_paid = ${flag()}`, `created_at = ${timestamp()}`, "method = 'y'", "status = 'z'"),
      ),
    removeInvoice: () => `DELETE FROM payments WHERE id = ${row('payments')}`,
    sale: () => post('subscription_payment', -1 - random(40_000), "'sales_revenue', 'sales:traffic'", "'balance'", 'NULL'),
    uncomplete: () => set('transactions', `is_completed = ${flag()}, is_internal = ${flag()}, created_at = ${timestamp()}`),
    merge: () => `SELECT move_transactions(${row('users', 'balance_kopeks = 0')}, ${row('users')})`,
    subscribe: () =>
      `INSERT INTO subscriptions (user_id, status, is_trial, connected_squads, traffic_used_gb, end_date)
       VALUES (${member()}, ${state()}, ${flag()}, ${squads()}, ${random(4)}, ${timestamp()})`,
    changeSubscription: () =>
      set(
        'subscriptions',
        one(
          `end_date = ${timestamp()}`,
          `status = ${state()}`,
          `connected_squads = ${squads()}`,
          `is_trial = ${flag()}`,
          `tariff_id = ${one('NULL', row('tariffs'))}`,
          `traffic_used_gb = ${random(4)}`,
        ),
      ),
    // The user and the subscription in one statement, as a sale does.
    sell: () =>
      `WITH buyer AS (UPDATE users SET has_had_paid_subscription = ${flag()} WHERE id = ${member()} RETURNING id)
       UPDATE subscriptions s SET is_trial = ${flag()}, status = ${state()}, end_date = ${timestamp()} FROM buyer WHERE s.user_id = buyer.id`,
    changeTrial: () => `UPDATE subscriptions SET is_trial = ${flag()}, status = ${state()} WHERE user_id = ${registrant()}`,
    giveSubscription: () => set('subscriptions', `user_id = ${row('users', 'id NOT IN (SELECT user_id FROM subscriptions)')}`),
    unsubscribe: () => `DELETE FROM subscriptions WHERE id = ${row('subscriptions')}`,
    convert: () =>
      `INSERT INTO subscription_conversions (user_id, converted_at, trial_duration_days, first_payment_amount_kopeks)
       VALUES (${member()}, ${timestamp()}, ${one('NULL', '3')}, ${one('NULL', String(random(5000)))})`,
    changeConversion: () => set('subscription_conversions', `user_id = ${row('users')}, converted_at = ${timestamp()}`),
    removeConversion: () => `DELETE FROM subscription_conversions WHERE id = ${row('subscription_conversions')}`,
    addCampaign: () => `INSERT INTO advertising_campaigns (name, start_parameter, bonus_type) VALUES ('x', ${code()}, 'none')`,
    removeCampaign: () =>
      `DELETE FROM advertising_campaigns WHERE id = ${row('advertising_campaigns')} AND (SELECT count(*) FROM advertising_campaigns) > 3`,
    register: () =>
      `INSERT INTO advertising_campaign_registrations (campaign_id, user_id, bonus_type, balance_bonus_kopeks, created_at)
       VALUES (${row('advertising_campaigns')}, ${member()}, ${one("'none'", "'balance'", "'tariff'", "'subscription'")}, ${random(100)}, ${timestamp()})`,
    changeRegistration: () =>
      set(
        'advertising_campaign_registrations',
        one(
          `campaign_id = ${row('advertising_campaigns')}`,
          `created_at = ${timestamp()}`,
          `user_id = ${row('users', 'id NOT IN (SELECT user_id FROM advertising_campaign_registrations)')}`,
        ),
      ),
    unregister: () => `DELETE FROM advertising_campaign_registrations WHERE id = ${row('advertising_campaign_registrations')}`,
    earn: () =>
      `INSERT INTO referral_earnings (user_id, referral_id, amount_kopeks, reason, referral_transaction_id, created_at)
       VALUES (${row('users')}, ${row('users')}, ${random(700)}, 'referral_commission', ${row('transactions')}, ${timestamp()})`,
    changeEarning: () =>
      set('referral_earnings', `amount_kopeks = ${random(700)}, created_at = ${timestamp()}, user_id = ${row('users')}`),
    removeEarning: () => `DELETE FROM referral_earnings WHERE id = ${row('referral_earnings')}`,
    addContest: () =>
      `INSERT INTO referral_contests (title, start_at, end_at, closes_at) SELECT 'x', m, m + interval '30 hours 1 second', m + interval '30 hours 1 second'
       FROM (SELECT ${timestamp()} AS m) x`,
    // The last second is never midnight, which would be the end of the day.
    moveContest: () =>
      `UPDATE referral_contests SET start_at = m, end_at = m + interval '20 hours 1 second', closes_at = m + interval '20 hours 1 second'
       FROM (SELECT ${timestamp()} AS m) x WHERE id = ${row('referral_contests')}`,
    removeContest: () =>
      `DELETE FROM referral_contests WHERE id = ${row('referral_contests')} AND (SELECT count(*) FROM referral_contests) > 3`,
    score: () =>
      `INSERT INTO referral_contest_events AS e (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
       SELECT c.id, ${member()}, u.id, 'subscription_purchase', ${random(3)} * u.id, ${timestamp()} FROM referral_contests c
       CROSS JOIN (SELECT id FROM users ORDER BY md5(id::text || '${random(1e9)}') LIMIT 3) u
       ON CONFLICT (contest_id, referral_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks, occurred_at = EXCLUDED.occurred_at`,
    moveScore: () => set('referral_contest_events', one(`referrer_id = ${member()}`, `occurred_at = ${timestamp()}`)),
    removeScores: () => `DELETE FROM referral_contest_events WHERE referrer_id = ${member()} AND id % 2 = ${random(2)}`,
    requestWithdrawal: () =>
      `INSERT INTO withdrawal_requests (user_id, amount_kopeks, status) VALUES (${row('users')}, ${1 + random(900)}, ${withdrawal()})`,
    decideWithdrawal: () => set('withdrawal_requests', `status = ${withdrawal()}, amount_kopeks = ${1 + random(900)}`),
    removeWithdrawal: () => `DELETE FROM withdrawal_requests WHERE id = ${row('withdrawal_requests')}`,
  };
}

/** SQLSTATE classes of rules that a random change may meet: constraints, and what a trigger refuses. */
const REFUSED = /constraint|cycle|referrers|cannot move|null value/;

/** The most rows that were compared, by counter. */
const mostRows = new Map<string, number>();

async function differences(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const { name, maintained, counted } of COUNTERS) {
    const [is, shall] = [await t.app.db.sql(maintained), await t.app.db.sql(counted)];
    mostRows.set(name, Math.max(mostRows.get(name) ?? 0, is.length));
    if (JSON.stringify(is) !== JSON.stringify(shall)) found[name] = { is, shall };
  }
  return found;
}

test('every maintained counter equals a recount, after each of many random changes and after its recount function', async () => {
  const random = seededRandom(42);
  const kinds = Object.entries(changes(random));
  const done = new Map<string, number>();
  await t.app.db.sql("INSERT INTO users (referral_code) VALUES ('first'), ('second'), ('third') RETURNING id");
  await t.app.db.sql(
    "INSERT INTO advertising_campaigns (name, start_parameter, bonus_type) VALUES ('x', 'x', 'none') RETURNING id",
  );
  await t.app.db.sql("INSERT INTO server_squads (squad_uuid, display_name) VALUES ('a', 'a'), ('b', 'b') RETURNING id");
  for (let step = 0; step < 900; step++) {
    // Every kind once in turn, then at random.
    const [kind, statement] = kinds[step < kinds.length ? step : random(kinds.length)]!;
    const sql = statement();
    try {
      await t.database.jobDatabase.executeSql(sql);
      done.set(kind, (done.get(kind) ?? 0) + 1);
    } catch (error) {
      expect(String(error), sql).toMatch(REFUSED);
    }
    if (step % 60 === 30) await countTransactionsByDay(t.app, 0);
    if (step % 60 === 50) await t.app.db.sql('SELECT compact_statistics()::text AS done');
    if (step % 60 === 40) while ((await t.app.db.sql<{ more: boolean }>('SELECT count_sales(7) AS more'))[0]!.more);
    if (step % 20 === 19) expect({ step, sql, differences: await differences() }).toEqual({ step, sql, differences: {} });
  }
  // Nothing was compared with nothing.
  expect([...done.keys()].sort()).toEqual(kinds.map(([kind]) => kind).sort());
  expect([...mostRows].filter(([, rows]) => rows < 2)).toEqual([]);

  // Another time zone, with an offset of 5 hours 45 minutes: transactions are counted again by the job.
  await t.app.db.sql("SELECT recount_statistics('Asia/Kathmandu')::text AS done");
  expect(await differences()).toEqual({});
  await t.app.db.sql('SELECT count_sales(1000000) AS more');
  expect(await differences()).toEqual({});

  for (const recount of new Set(COUNTERS.map((counter) => counter.recount))) {
    if (recount) await t.app.db.sql(`SELECT ${recount}()::text AS done`);
  }
  expect(await differences()).toEqual({});

  await t.database.jobDatabase.executeSql('TRUNCATE reward_reversals, referral_earnings');
  expect(await differences()).toEqual({});
  // Triggers follow TRUNCATE of users and of earnings; other tables are emptied by tests only.
  await t.database.jobDatabase.executeSql('TRUNCATE users CASCADE');
  const others = Object.keys(await differences()).filter((name) => /^(user|refer)/.test(name));
  expect(others).toEqual([]);
});
