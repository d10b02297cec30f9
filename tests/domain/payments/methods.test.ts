import { beforeEach, describe, expect, test } from 'vitest';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { listPaymentMethodsFor, METHODS, seedPaymentMethods } from '../../../src/domain/payments/payment-methods.ts';
import { aUser } from '../../support/builders.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const YOOKASSA = { YOOKASSA_ENABLED: 'true', YOOKASSA_SHOP_ID: 'shop', YOOKASSA_SECRET_KEY: 'test_secret_key_0123456789' };

let t: TestApp;
beforeEach(async () => {
  t = await testApp({ environment: YOOKASSA });
  await t.app.db.sql('DELETE FROM payment_method_configs RETURNING method_id');
  await seedPaymentMethods(t.app);
});

const configure = (method: string, assignment: string) =>
  t.app.db.sql(`UPDATE payment_method_configs SET ${assignment} WHERE method_id = $1 RETURNING method_id`, [method]);
const idsFor = async (userId: number, options = {}) =>
  (await listPaymentMethodsFor(t.app, userId, options)).map((method) => method.id);

describe('seedPaymentMethods', () => {
  test('lists all methods in the documented order after the sandbox, enabled where configured', async () => {
    const rows = await t.app.db.sql<{ methodId: string; isEnabled: boolean; subOptions: object | null }>(
      'SELECT method_id, is_enabled, sub_options FROM payment_method_configs ORDER BY sort_order',
    );
    expect(rows.map((row) => row.methodId)).toEqual(['sandbox', ...METHODS.map((method) => method.id)]);
    expect(rows).toHaveLength(17);
    expect(rows.filter((row) => row.isEnabled).map((row) => row.methodId)).toEqual(['sandbox', 'messenger_stars', 'yookassa']);
    expect(rows.find((row) => row.methodId === 'yookassa')!.subOptions).toEqual({ card: true, sbp: true });
    expect(rows.find((row) => row.methodId === 'sandbox')!.subOptions).toBeNull();
  });

  test('a second run changes nothing, and a missing method is added at the end', async () => {
    await configure('yookassa', "is_enabled = false, display_name = 'Card'");
    await t.app.db.sql("DELETE FROM payment_method_configs WHERE method_id = 'cryptobot' RETURNING method_id");
    await seedPaymentMethods(t.app);
    const rows = await t.app.db.sql<{ methodId: string; isEnabled: boolean; displayName: string | null }>(
      'SELECT method_id, is_enabled, display_name FROM payment_method_configs ORDER BY sort_order',
    );
    expect(rows.at(-1)!.methodId).toBe('cryptobot');
    expect(rows.find((row) => row.methodId === 'yookassa')).toMatchObject({ isEnabled: false, displayName: 'Card' });
  });
});

describe('listPaymentMethodsFor', () => {
  test('lists enabled and configured methods, with limits, names and options', async () => {
    const user = await aUser(t.app, { language: 'en' });
    const methods = await listPaymentMethodsFor(t.app, user.id);
    expect(methods).toMatchObject([
      { id: 'sandbox', name: 'Sandbox', minAmountKopeks: 1_000, options: null },
      { id: 'messenger_stars', minAmountKopeks: 100, maxAmountKopeks: 1_000_000, options: null },
      {
        id: 'yookassa',
        name: 'YooKassa',
        minAmountKopeks: 5_000,
        maxAmountKopeks: 1_000_000,
        options: [{ id: 'card', name: '💳 Bank card' }, { id: 'sbp' }],
      },
    ]);
    await configure(
      'yookassa',
      `sort_order = -5, display_name = 'Card', min_amount_kopeks = 7000, max_amount_kopeks = 8000, sub_options = '{"card": false, "sbp": true}'`,
    );
    await configure('cryptobot', 'is_enabled = true');
    expect((await listPaymentMethodsFor(t.app, user.id))[0]).toMatchObject({
      id: 'yookassa',
      name: 'Card',
      minAmountKopeks: 7_000,
      maxAmountKopeks: 8_000,
      options: [{ id: 'sbp' }],
    });
    await configure('yookassa', 'sub_options = NULL');
    expect((await listPaymentMethodsFor(t.app, user.id))[0]!.options).toBeNull();
    expect(await idsFor(user.id)).toEqual(['yookassa', 'sandbox', 'messenger_stars']);
  });

  test('filters by contact, first top-up and group', async () => {
    const mailed = await aUser(t.app, { email: `m${Date.now()}@example.com` });
    const plain = await aUser(t.app);
    const has = async (userId: number, options = {}) => (await idsFor(userId, options)).includes('sandbox');
    await configure('sandbox', "user_type_filter = 'email'");
    expect([await has(mailed.id), await has(plain.id)]).toEqual([true, false]);
    await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [mailed.id]);
    await configure('sandbox', "user_type_filter = 'messenger'");
    expect([await has(mailed.id), await has(plain.id)]).toEqual([false, true]);

    await configure('sandbox', "user_type_filter = 'all', first_topup_filter = 'yes'");
    await postMovement(t.app, {
      userId: plain.id,
      type: 'deposit',
      amountKopeks: 1,
      contra: { kind: 'manual_adjustment' },
      paymentMethod: 'manual',
      description: null,
    });
    expect([await has(mailed.id), await has(plain.id)]).toEqual([true, false]);
    expect(await has(plain.id, { ignoreFirstTopupFilter: true })).toBe(true);
    await configure('sandbox', "first_topup_filter = 'no'");
    expect([await has(mailed.id), await has(plain.id)]).toEqual([false, true]);

    await configure('sandbox', "first_topup_filter = 'any', promo_group_filter_mode = 'selected'");
    expect([await has(mailed.id), await has(plain.id)]).toEqual([true, true]);
    const group = await storeRow(t.app, 'PromoGroup', { name: `VIP ${Date.now()}` });
    await storeRow(t.app, 'PaymentMethodPromoGroup', { methodId: 'sandbox', promoGroupId: group.id });
    await storeRow(t.app, 'UserPromoGroup', { userId: plain.id, promoGroupId: group.id, assignedBy: 'admin' });
    expect([await has(mailed.id), await has(plain.id)]).toEqual([false, true]);
  });
});
