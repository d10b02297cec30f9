/** Spec 07 sections 2, 4.2 and 5: what only databases of newer releases have, and ids that were given once. */
// Raw SQL of this file: rows of another product, of which there is no builder.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

/** Users whose payments the generator leaves alone. */
const OWNER = 90_001;

/** Paid at a provider that is not known here. */
const payment = (id: number, values: string) =>
  `INSERT INTO lava_payments (id, user_id, order_id, currency, status, is_paid, created_at, lava_invoice_id, amount_kopeks, paid_at, metadata_json, transaction_id)
   VALUES (${id}, ${OWNER}, 'order-${id}', 'RUB', 'success', true, '2026-11-27', 'invoice-${id}', ${values})`;
const movement = (id: number, kopeks: number, externalId: string | null, createdAt: string) =>
  copyOf('transactions', {
    id,
    user_id: OWNER,
    type: 'deposit',
    payment_method: 'lava',
    is_completed: true,
    amount_kopeks: kopeks,
    external_id: externalId,
    created_at: createdAt,
    completed_at: createdAt,
  });
/** A row like the first one of its table, but for these values. */
const copyOf = (table: string, values: Readonly<Record<string, unknown>>) =>
  `INSERT INTO ${table} SELECT (jsonb_populate_record(r, '${JSON.stringify(values)}')).* FROM ${table} r WHERE id = (SELECT min(id) FROM ${table})`;
const NOBODY_ELSE = {
  telegram_id: 990_001,
  referral_code: 'payer',
  email: null,
  google_id: null,
  yandex_id: null,
  discord_id: null,
  vk_id: null,
  remnawave_uuid: null,
  remnawave_id: null,
};

const PAID = [
  copyOf('users', { id: OWNER, ...NOBODY_ELSE }),
  movement(900_001, 100, null, '2026-11-27T10:00:00Z'),
  movement(900_002, 200, 'invoice-9002', '2026-11-20T10:00:00Z'),
  movement(900_003, 300, null, '2026-11-27T12:09:00Z'),
  // By the movement that they name, by the provider's id, and by a deposit of that time, which is one payment's only.
  payment(9001, `100, '2026-11-27T10:00:00Z', '{}', 900001`),
  payment(9002, `200, '2026-11-27T11:00:00Z', '{}', NULL`),
  payment(9003, `300, '2026-11-27T12:00:00Z', '{"purpose": "recurrent_topup"}', NULL`),
  payment(9004, `300, '2026-11-27T12:01:00Z', '{}', NULL`),
  // The deposit of that time is named by another payment.
  payment(9005, `100, '2026-11-27T10:01:00Z', '{}', NULL`),
  payment(9006, `500, '2026-11-28T08:59:00Z', '{"purpose": "guest_purchase"}', NULL`),
  payment(9007, `700, '2026-11-28T08:59:00Z', '{"purpose": "balance_topup"}', NULL`),
];

describe.skipIf(!serverUrl)('a database of v4 (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  beforeAll(async () => {
    imported = await importedFrom(['--version', 'v4', '--users', '30'], async (source) => {
      for (const statement of PAID) await source.query(statement);
      await source.query("SELECT setval('tickets_id_seq', 70000), setval('users_id_seq', 3)");
    });
  });
  afterAll(() => imported.drop());

  test('I6: has its paid and never credited top-ups listed, though nobody here knows their provider', async () => {
    const listed = await imported.rows(
      "SELECT subject, detail FROM import_issues WHERE source_table = 'lava_payments' AND code = 'payment_paid_uncredited' ORDER BY subject",
    );
    const facts = (kopeks: number) => ({ method: 'lava', user_id: OWNER, kopeks });
    expect(listed).toEqual([
      { subject: 'lava 9004', detail: facts(300) },
      { subject: 'lava 9005', detail: facts(100) },
      { subject: 'lava 9007', detail: facts(700) },
    ]);
    expect(await imported.rows("SELECT id FROM payments WHERE method = 'lava'")).toEqual([]);
  });

  test('I13: gets no id again that the source has given and deleted', async () => {
    const [next] = await imported.rows("SELECT nextval('tickets_id_seq') AS ticket, nextval('users_id_seq') AS person");
    expect(next).toEqual({ ticket: 70_001, person: OWNER + 1 });
  });
});

describe.skipIf(!serverUrl)('a database between releases (left out without a server: TEST_DATABASE_URL)', () => {
  test.each([
    ['0052', false, []],
    ['0053', true, [{ value: '2,11,12,13' }]],
  ])('of revision %s has the default that moved there listed, and written = %s', async (revision, isWritten, stored) => {
    const { rows, drop } = await importedFrom(['--version', 'v4', '--users', '20'], async (source) => {
      await source.query('UPDATE alembic_version SET version_num = $1', [revision]);
      await source.query("DELETE FROM system_settings WHERE key = 'PLATEGA_ACTIVE_METHODS'");
    });
    onTestFinished(drop);
    expect(await rows("SELECT subject, detail FROM import_issues WHERE code = 'setting_default_differs'")).toEqual([
      { subject: 'PLATEGA_ACTIVE_METHODS', detail: { key: 'PLATEGA_ACTIVE_METHODS', value: '2,11,12,13', isWritten } },
    ]);
    expect(await rows("SELECT value FROM system_settings WHERE key = 'PLATEGA_ACTIVE_METHODS'")).toEqual(stored);
  });
});
