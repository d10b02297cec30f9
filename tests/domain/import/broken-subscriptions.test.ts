/** Spec 07 sections 3, 4.3, 4.6 and 7: broken subscriptions and tariffs that the generator of sources does not make. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

// Raw SQL of this file: it writes tables of another product.
const GONE = 1_900_000_000;
const RARE = { keeper: 800_001, other: 800_002, nameless: 800_003, taken: 800_004 };

/** A copy of a row with other values. */
async function copyRow(client: pg.Client, table: string, id: number, changes: Record<string, unknown>): Promise<void> {
  await client.query(
    `INSERT INTO ${table} SELECT r.* FROM ${table} o CROSS JOIN LATERAL jsonb_populate_record(o, $2::jsonb) r WHERE o.id = $1`,
    [id, JSON.stringify(changes)],
  );
}

/** Broken data that the generator does not make; the source has lost the keys that would refuse it. */
async function addRareFaults(client: pg.Client): Promise<void> {
  await client.query(`SET session_replication_role = replica; SET timezone = 'UTC';
    ALTER TABLE tariff_promo_groups DROP CONSTRAINT tariff_promo_groups_pkey; ALTER TABLE server_squads DROP CONSTRAINT server_squads_squad_uuid_key;
    ALTER TABLE promo_groups DROP CONSTRAINT promo_groups_name_key; DROP INDEX ix_users_remnawave_id, uq_subscriptions_user_tariff_active`);
  const user = async (id: number, changes: Record<string, unknown>) =>
    copyRow(client, 'users', 1, { id, telegram_id: 7_000_000_000 + id, referral_code: `rare${id}`, ...changes });
  const { rows } = await client.query<{ id: number }>(
    `SELECT min(id) AS id FROM subscriptions WHERE tariff_id = 1 AND status = 'expired' AND is_trial`,
  );
  const pattern = rows[0]!.id;
  const subscription = async (id: number, userId: number, changes: Record<string, unknown>) =>
    copyRow(client, 'subscriptions', pattern, {
      id,
      user_id: userId,
      status: 'active',
      is_trial: false,
      autopay_enabled: false,
      remnawave_id: null,
      remnawave_uuid: null,
      end_date: '2026-12-28T09:00:00Z',
      remnawave_short_id: `r${id}`,
      remnawave_short_uuid: `short${id}`,
      ...changes,
    });
  // The user's row names the panel user of the subscription that is kept aside, and the kept one has the same short UUID, or none.
  await user(RARE.keeper, { remnawave_id: 8_000_001 });
  await subscription(810_001, RARE.keeper, { tariff_id: 2, remnawave_short_uuid: 'same' });
  await subscription(810_002, RARE.keeper, {
    end_date: '2026-12-08T09:00:00Z',
    remnawave_id: 8_000_001,
    remnawave_short_uuid: 'same',
  });
  await user(RARE.nameless, { remnawave_id: 8_000_003 });
  await subscription(810_003, RARE.nameless, {
    tariff_id: 2,
    remnawave_short_uuid: null,
    autopay_enabled: true,
    autopay_period_days: 90,
  });
  await subscription(810_004, RARE.nameless, { end_date: '2026-12-08T09:00:00Z', remnawave_id: 8_000_003 });
  // The panel user of a subscription that is kept aside, of somebody who has no link.
  await user(RARE.taken, { remnawave_id: 7_200_000 });
  await user(RARE.other, { remnawave_id: 8_000_002 });
  await subscription(810_005, RARE.other, {
    status: ' Weird ',
    tariff_id: 77,
    traffic_limit_gb: null,
    connected_squads: null,
    purchased_traffic_gb: -1,
    start_date: '1970-01-01T00:00:00Z',
  });
  await client.query(
    `INSERT INTO subscription_servers (subscription_id, server_squad_id, connected_at, paid_price_kopeks) VALUES
       (810001, 1, '2026-10-02', 100), (810001, 1, '2026-10-01', 50), (810001, 2, NULL, NULL), (810001, 99, now(), 1), ($1, 1, now(), 1), (810002, 1, now(), 7)`,
    [GONE],
  );
  await client.query(
    `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, days_before, created_at) VALUES
       (800001, 810001, 'expiring', 3, '2026-10-02'), (800001, 810001, 'expiring', 3, '2026-10-01'), (800001, 810001, 'expired', NULL, '2026-10-01'),
       (1, $1, 'expired', NULL, '2026-10-01'), (800001, 810002, 'expired', NULL, '2026-10-01')`,
    [GONE],
  );
  await client.query(
    `INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at) VALUES
       (810001, 10, '2026-12-20', '2026-10-01'), (810001, 0, '2026-12-20', '2026-10-01'), ($1, 5, '2026-12-20', '2026-10-01'),
       (810001, 7, '1970-01-01', '2026-10-01'), (810002, 3, '2026-12-20', '2026-10-01')`,
    [GONE],
  );
  await client.query(
    `INSERT INTO subscription_events (event_type, user_id, subscription_id, transaction_id, amount_kopeks, message, occurred_at, extra, created_at) VALUES
       ('purchase', 800001, 810001, (SELECT min(id) FROM transactions), 100, 'a', '2026-10-01', '{"a": "\\u0000b"}', '2026-10-01'),
       ('renewal', 800001, 810002, $1, 100, 'b', '2026-10-01', NULL, NULL), ('renewal', $1, 810001, NULL, 100, 'c', '2026-10-01', NULL, now())`,
    [GONE],
  );
  await client.query(
    `INSERT INTO subscription_conversions (user_id, converted_at, payment_method, first_payment_amount_kopeks) VALUES (800001, '2026-10-01', 'telegram_stars', 5), ($1, '2026-10-01', 'yookassa', 5)`,
    [GONE],
  );
  await client.query(`UPDATE tariffs SET device_limit = 0, daily_price_kopeks = -5, external_squad_uuid = 'none', traffic_reset_mode = 'sometimes', allowed_squads = '{"a": 1}',
    period_prices = '{"30": "9900", "x": 1, "60": -4, "90": 19.5}' WHERE id = 4`);
  await copyRow(client, 'promo_groups', 2, { id: 4, name: 'VIP', period_discounts: { 30: 150, 90: '20', bad: 5 } });
  await copyRow(client, 'server_squads', 1, { id: 5 });
  await client.query('INSERT INTO tariff_promo_groups VALUES (2, 2), (2, 99)');
}

describe.skipIf(!serverUrl)('data that is broken in rare ways (left out without a server)', () => {
  let t: Imported;
  const one = async (query: string) => (await t.app.db.sql(query))[0];

  beforeAll(async () => {
    t = await importedFrom(['--version', 'v4', '--seed', '1'], addRareFaults);
  });
  afterAll(() => t.drop());

  test('is repaired, merged or kept aside, each with its code', () => {
    const { issues, source } = t.result;
    const more = (code: string) => (issues[code] ?? 0) - (t.made.issues[code] ?? 0);
    const expected = {
      subscription_server_orphan: 2,
      subscription_server_repeated: 1,
      sent_notification_orphan: 1,
      sent_notification_repeated: 1,
      traffic_purchase_orphan: 1,
      traffic_purchase_invalid: 1,
      date_out_of_range: 2,
      created_at_null: 1,
      subscription_event_orphan: 1,
      subscription_event_link_missing: 2,
      subscription_conversion_orphan: 1,
      subscription_status_unknown: 1,
      subscription_tariff_missing: 1,
      subscription_limit_invalid: 1,
      squads_invalid: 1,
      tariff_bounds: 1,
      json_pair_invalid: 2,
      percent_out_of_range: 1,
      unique_duplicate: 2,
      tariff_promo_group_orphan: 1,
      subscription_parked: 2,
      panel_link_of_sibling: 0,
      panel_uuid_case_duplicate: 1,
      autopay_period_ignored: 1,
    };
    expect(Object.fromEntries(Object.keys(expected).map((code) => [code, more(code)]))).toEqual(expected);
    expect(source.subscription_servers).toMatchObject({ read: 6, kept: 2, merged: 1, parked: 3 });
    expect(source.sent_notifications).toMatchObject({ merged: 1, parked: t.made.parked_rows.sent_notifications! + 2 });
    expect(source.tariff_promo_groups).toMatchObject({ read: 3, kept: 1, merged: 1, parked: 1 });
  });

  test('becomes values that are valid here', async () => {
    expect(await one('SELECT paid_price_kopeks, connected_at FROM subscription_servers WHERE server_squad_id = 1')).toEqual({
      paidPriceKopeks: 150,
      connectedAt: new Date('2026-10-01T00:00:00Z'),
    });
    expect(
      await one(
        'SELECT status, tariff_id, traffic_limit_gb AS traffic, purchased_traffic_gb AS bought, connected_squads AS squads, start_date = created_at AS starts FROM subscriptions WHERE id = 810005',
      ),
    ).toEqual({ status: 'disabled', tariffId: null, traffic: 0, bought: 0, squads: [], starts: true });
    expect(
      await one(
        'SELECT device_limit, daily_price_kopeks, external_squad_uuid, traffic_reset_mode, allowed_squads, period_prices FROM tariffs WHERE id = 4',
      ),
    ).toEqual({
      deviceLimit: 1,
      dailyPriceKopeks: 0,
      externalSquadUuid: null,
      trafficResetMode: null,
      allowedSquads: [],
      periodPrices: { 30: 9900 },
    });
    expect(await one('SELECT name, period_discounts FROM promo_groups WHERE id = 4')).toEqual({
      name: 'VIP (4)',
      periodDiscounts: { 30: 100, 90: 20 },
    });
    expect(await one('SELECT payment_method FROM subscription_conversions')).toEqual({ paymentMethod: 'messenger_stars' });
    expect(await one(`SELECT row ->> 'external_squad_uuid' AS uuid FROM import_parked WHERE reason = 'tariff_bounds'`)).toEqual({
      uuid: 'none',
    });
  });

  test('never takes the panel user of another subscription or person', async () => {
    const links = await t.app.db.sql<{ id: number; link: string | null }>(
      `SELECT id, right(vpnpanel_uuid::text, 12) AS link FROM users WHERE id BETWEEN 800001 AND 800004 ORDER BY id`,
    );
    const hex = (number: number) => number.toString(16).padStart(12, '0');
    expect(links.map(({ id, link }) => [id, link])).toEqual([
      [RARE.keeper, hex(8_000_001)],
      [RARE.other, hex(8_000_002)],
      [RARE.nameless, hex(8_000_003)],
      [RARE.taken, null],
    ]);
  });

  test('is equal by the comparison, which sees one changed row in each table', async () => {
    const before = await t.verify();
    expect(before.differences).toEqual([]);
    const changes = {
      subscriptions: `end_date = end_date + interval '1 millisecond'`,
      subscription_servers: 'paid_price_kopeks = paid_price_kopeks + 1',
      traffic_purchases: 'traffic_gb = traffic_gb + 1',
      sent_notifications: `discriminator = '77'`,
      subscription_events: `message = 'changed'`,
      subscription_conversions: 'first_payment_amount_kopeks = 6',
      tariffs: `period_prices = '{"30": 1}'`,
      server_squads: 'price_kopeks = price_kopeks + 1',
      users: `vpnpanel_uuid = '00000000-0000-8000-8000-000000000001'`,
    };
    const client = new pg.Client({ connectionString: t.database.url! });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('SET session_replication_role = replica');
    for (const [table, set] of Object.entries(changes)) {
      const row = `WHERE id = (SELECT min(id) FROM ${table} WHERE id::text NOT IN (SELECT subject FROM import_issues WHERE source_table = '${table}')
        ${table === 'users' ? 'AND vpnpanel_uuid IS NOT NULL' : ''})`;
      const { rows } = await client.query<{ id: number; row: string }>(
        `SELECT id, to_jsonb(o)::text AS row FROM ${table} o ${row}`,
      );
      await client.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [rows[0]!.id]);
      const column = set.split(' ')[0]!;
      // For the other tests.
      const restored = `UPDATE ${table} SET ${column} = r.${column} FROM jsonb_populate_record(NULL::${table}, $1) r WHERE ${table}.id = r.id`;
      onTestFinished(async () => void (await client.query(restored, [rows[0]!.row])));
    }
    for (const table of ['tariff_promo_groups', 'server_squad_promo_groups']) await client.query(`DELETE FROM ${table}`);
    const { differences } = await t.verify();
    const expected = [...Object.keys(changes), 'tariff_promo_groups', 'server_squad_promo_groups'];
    expect(differences.map(({ table }) => table).sort()).toEqual(expected.sort());
  });
});
