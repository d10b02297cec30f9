/** Spec 07 as a customer sees it: an imported service, from an old password to a renewal (hazards I4, I8, I9, I10, I11 and I30). */
import type pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { startCharges } from '../../../src/domain/payments/card-charges.ts';
import { clientOf, testServer } from '../../support/api.ts';
import { importedFrom } from '../../support/imported-databases.ts';
import { invoicesOf } from '../../support/imported-invoices.ts';
import { panelOf } from '../../support/imported-panels.ts';
import { runPanelJobs } from '../../support/panel-jobs.ts';
import { withPort } from '../../support/provisioning-setup.ts';
import { compareRefusal } from '../../support/refusal-recorder.ts';
import { serverUrl } from '../../support/test-database.ts';

const PRICE = 14_900;
/** The first who signs in with a password and has a live subscription. */
const CUSTOMER = `(SELECT min(u.id) FROM users u JOIN subscriptions s ON s.user_id = u.id
  WHERE u.email LIKE 'person%' AND u.email_verified AND u.password_hash IS NOT NULL AND s.status = 'active' AND s.end_date > timestamptz '2026-11-29')`;

/** The customer ends in a day with an empty balance, and has an open payment of the price at YooKassa, with these metadata. */
const waitsForPayment = (metadata: object) => async (source: pg.Client) => {
  await source.query(
    `UPDATE subscriptions SET tariff_id = 1, device_limit = 1, traffic_limit_gb = 100, autopay_enabled = true, is_trial = false,
       end_date = timestamptz '2026-11-29T05:00:00Z' WHERE user_id = ${CUSTOMER}`,
  );
  await source.query(
    `UPDATE yookassa_payments SET user_id = ${CUSTOMER}, status = 'pending', is_paid = false, captured_at = NULL, transaction_id = NULL, amount_kopeks = $1,
       metadata_json = $2, created_at = timestamptz '2026-11-28T08:30:00Z' WHERE id = (SELECT min(id) FROM yookassa_payments)`,
    [PRICE, JSON.stringify(metadata)],
  );
  await source.query(`DELETE FROM user_promo_groups WHERE user_id = ${CUSTOMER}`);
  await source.query(`UPDATE users SET balance_kopeks = 0, promo_group_id = NULL WHERE id = ${CUSTOMER}`);
};

test.skipIf(!serverUrl)('a customer goes on: password, tokens, a late payment, a renewal, the same panel user', async () => {
  const imported = await importedFrom([], waitsForPayment({}));
  onTestFinished(() => imported.drop());
  const { made, rows } = imported;
  const invoices = await invoicesOf(imported);
  onTestFinished(() => invoices.close());
  const { panel, app: withPanel } = await panelOf(imported, 'uuid');
  onTestFinished(() => panel.close());
  const app = withPort(invoices.app, withPanel.ports.panel);
  const client = clientOf(await testServer(app, compareRefusal));

  const [token] = made.credentials.api_tokens;
  expect((await client.get('/tickets', { headers: { 'x-api-key': token!.token } })).status).toBe(200);
  const [session] = made.credentials.refresh_tokens;
  expect((await client.post('/cabinet/auth/refresh', { refresh_token: session!.token })).status).toBe(200);

  const [payment] = await invoices.payments(`method = 'yookassa' AND outcome = 'pending' AND amount_kopeks = ${PRICE}`);
  const { email, password } = made.credentials.passwords.find(({ user_id }) => user_id === payment!.userId)!;
  const signedIn = await client.post('/cabinet/auth/email/login', { email, password });
  expect(signedIn.status).toBe(200);
  const customer = client.with({ authorization: `Bearer ${signedIn.body.access_token}` });
  expect((await customer.get('/cabinet/balance')).body.balance_kopeks).toBe(0);

  for (let count = 0; count < 2; count++) {
    await invoices.report(payment!);
    expect((await customer.get('/cabinet/balance')).body.balance_kopeks).toBe(PRICE);
  }
  const known = panel.listUsers(10_000).length;
  expect((await customer.post('/cabinet/subscription/renew', { period_days: 30 })).status).toBe(200);
  expect((await customer.get('/cabinet/balance')).body.balance_kopeks).toBe(0);
  await runPanelJobs(app);

  const [{ uuid }] = (await rows<{ uuid: string }>(`SELECT vpnpanel_uuid AS uuid FROM users WHERE id = ${payment!.userId}`)) as [
    { uuid: string },
  ];
  const found = panel.listUsers(10_000);
  expect(found).toHaveLength(known);
  const end = addDays(new Date('2026-11-29T05:00:00Z'), 30);
  expect(found.find((user) => user.uuid === uuid)).toMatchObject({ expireAt: end.toISOString(), status: 'ACTIVE' });
  expect(panel.calls().filter(({ method, path }) => method === 'POST' && path === '/api/users')).toEqual([]);
  expect(await rows('SELECT * FROM ledger_check()')).toEqual([]);
});

/** A saved card of the customer, and a service that charges cards. */
async function withCard(change: (source: pg.Client) => Promise<unknown>) {
  const imported = await importedFrom([], async (source) => {
    await waitsForPayment({ purpose: 'recurrent_topup' })(source);
    // Raw SQL: a row of the existing product.
    await source.query(
      `INSERT INTO saved_payment_methods (user_id, yookassa_payment_method_id, method_type, is_active) VALUES (${CUSTOMER}, 'card-1', 'bank_card', true)`,
    );
    await change(source);
  });
  onTestFinished(() => imported.drop());
  const invoices = await invoicesOf(imported, { ENABLE_AUTOPAY: 'true', YOOKASSA_RECURRENT_ENABLED: 'true' });
  onTestFinished(() => invoices.close());
  const charged = async () => {
    await startCharges(invoices.app);
    return imported.rows(`SELECT c.charge_date::text AS day FROM recurrent_charges c JOIN subscriptions s ON s.id = c.subscription_id
      JOIN saved_payment_methods m ON m.user_id = s.user_id`);
  };
  return { imported, invoices, charged };
}

test.skipIf(!serverUrl)('I30: no card is charged while a charge of the existing product is undecided', async () => {
  const { imported, invoices, charged } = await withCard(async () => undefined);
  expect(await invoices.payments(`outcome = 'pending' AND purpose = 'recurrent_topup'`)).toHaveLength(1);
  expect(await charged()).toEqual([]);
  await imported.rows(
    `UPDATE payments SET outcome = 'expired', created_at = created_at - interval '1 day' WHERE purpose = 'recurrent_topup' RETURNING id`,
  );
  expect(await charged()).toEqual([{ day: '2026-11-28' }]);
});

test.skipIf(!serverUrl)(
  'I30: a card that the existing product has charged today, and whose money is spent, is charged again on the next day only',
  async () => {
    const { imported, invoices, charged } = await withCard((source) =>
      // Raw SQL: as before.
      source.query(
        `WITH credited AS (INSERT INTO transactions (user_id, type, amount_kopeks, payment_method, external_id, is_completed, created_at, completed_at)
         VALUES (${CUSTOMER}, 'deposit', ${PRICE}, 'yookassa', 'card-charge-1', true, '2026-11-28T08:31:00Z', '2026-11-28T08:31:00Z') RETURNING id, user_id)
       UPDATE yookassa_payments p SET status = 'succeeded', is_paid = true, captured_at = '2026-11-28T08:31:00Z', transaction_id = c.id
       FROM credited c WHERE p.user_id = c.user_id AND p.metadata_json::text LIKE '%recurrent_topup%'`,
      ),
    );
    expect(await invoices.payments(`outcome = 'paid' AND purpose = 'recurrent_topup'`)).toHaveLength(1);
    expect(await charged()).toEqual([]);
    imported.clock.set(new Date('2026-11-29T01:00:00Z'));
    expect(await charged()).toEqual([{ day: '2026-11-29' }]);
  },
);
