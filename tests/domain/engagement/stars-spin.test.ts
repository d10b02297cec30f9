import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, addMs } from '../../../src/core/clock.ts';
import { createSpinInvoice, wheelStars } from '../../../src/domain/engagement/wheel/stars-spin.ts';
import { changeWheel } from '../../../src/domain/engagement/wheel/wheel.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { receiveStarsUpdate } from '../../../src/domain/payments/credit-stars.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { putSetting } from '../../../src/domain/settings/change-setting.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { callbackJobs } from '../../support/payment-samples.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { aWheel, wheelFacts } from '../../support/wheel-samples.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
beforeEach(() => aWheel(t.app, [{ prizeType: 'balance_bonus', prizeValue: 500, prizeValueKopeks: 500 }]));

/** A user who may be sold a spin; the payload of the latest invoice names user and second, so each invoice gets a second of its own. */
async function aPayer(): Promise<BuiltUser> {
  const user = await aUser(t.app);
  await aStoredSubscription(t.app, user.id, { end_date: addDays(t.app.clock.now(), 9) });
  return user;
}

async function invoiced(user: BuiltUser): Promise<string> {
  t.clock.set(addMs(t.app.clock.now(), 1_000));
  await createSpinInvoice(t.app, { kind: 'user', userId: user.id });
  const row = await rowOf<{ orderId: string }>(
    t.app,
    "SELECT order_id FROM payments WHERE user_id = $1::int AND purpose = 'wheel_spin' ORDER BY id DESC LIMIT 1",
    [user.id],
  );
  return row.orderId;
}

async function pay(payer: BuiltUser, payload: string, stars = 10, chargeId = `spin-${unique()}`): Promise<string> {
  const paid = { updateId: unique(), kind: 'stars_paid', chargeId, payerMessengerId: payer.messengerId, payload, stars } as const;
  await receiveStarsUpdate(t.app, paid, '{}', [wheelStars]);
  for (const callbackId of await callbackJobs(t.app, chargeId)) await processCallback(t.app, { callbackId }, [wheelStars]);
  return chargeId;
}

async function preCheckout(payer: BuiltUser, payload: string, amountStars = 10): Promise<boolean> {
  const answers: boolean[] = [];
  const messenger = { ...t.app.ports.messenger, answerPreCheckout: async (_id: string, ok: boolean) => void answers.push(ok) };
  const query = {
    updateId: 1,
    kind: 'pre_checkout',
    queryId: 'q',
    payerMessengerId: payer.messengerId,
    payload,
    amountStars,
  } as const;
  await receiveStarsUpdate({ ...t.app, ports: { ...t.app.ports, messenger } }, query, '{}', [wheelStars]);
  return answers[0]!;
}

const refunds = (userId: number) =>
  t.app.db.sql("SELECT amount_kopeks, payment_method FROM transactions WHERE user_id = $1::int AND type = 'refund'", [userId]);

describe('a spin paid in Stars (13.5, 13.7)', () => {
  test('spins the wheel once per charge and records its payment', async () => {
    const payer = await aPayer();
    const payload = await invoiced(payer);
    expect(payload).toMatch(new RegExp(`^wheel_spin_${payer.id}_\\d+$`));
    expect(await preCheckout(payer, payload)).toBe(true);
    const charge = await pay(payer, payload);
    await pay(payer, payload, 10, charge);
    // The stars pass by the wallet: only the prize is on it.
    expect(await wheelFacts(t.app, payer.id)).toMatchObject({ balance: 500, spins: 1, debits: 1, credits: 1 });
    const row = await rowOf(
      t.app,
      `SELECT w.payment_type, w.payment_amount, w.payment_value_kopeks, w.external_charge_id = p.external_id AS same, p.is_paid, p.outcome
       FROM wheel_spins w JOIN payments p ON p.id = w.payment_id WHERE w.user_id = $1::int`,
      [payer.id],
    );
    expect(row).toEqual({
      paymentType: 'messenger_stars',
      paymentAmount: 10,
      paymentValueKopeks: 1_300,
      same: true,
      isPaid: true,
      outcome: 'paid',
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('an invoice pays one spin: a second charge for it is refunded', async () => {
    const payer = await aPayer();
    const payload = await invoiced(payer);
    await pay(payer, payload);
    expect(await preCheckout(payer, payload)).toBe(false);
    await pay(payer, payload);
    expect(await wheelFacts(t.app, payer.id)).toMatchObject({ balance: 500 + 1_300, spins: 1 });
    expect(await refunds(payer.id)).toEqual([{ amountKopeks: 1_300, paymentMethod: 'messenger_stars' }]);
  });

  test('another payer, another amount or an unknown payload gets a refund and no spin', async () => {
    const [payer, other] = [await aPayer(), await aPayer()];
    const payload = await invoiced(payer);
    expect(await preCheckout(other, payload)).toBe(false);
    expect(await preCheckout(payer, payload, 1)).toBe(false);
    expect(await preCheckout(payer, `wheel_spin_${payer.id}_1`)).toBe(false);
    await pay(other, payload);
    await pay(payer, payload, 1);
    await pay(payer, `wheel_spin_${payer.id}_1`);
    expect(await wheelFacts(t.app, other.id)).toMatchObject({ balance: 1_300, spins: 0 });
    expect(await wheelFacts(t.app, payer.id)).toMatchObject({ balance: 130 + 1_300, spins: 0 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test.each([
    ['the wheel is off', { isEnabled: false }],
    ['stars are off', { spinCostStarsEnabled: false }],
  ])('%s meanwhile: the money goes to the balance', async (_what, changes) => {
    const payer = await aPayer();
    const payload = await invoiced(payer);
    await changeWheel(t.app, changes);
    expect(await preCheckout(payer, payload)).toBe(false);
    const charge = await pay(payer, payload);
    await pay(payer, payload, 10, charge);
    expect(await wheelFacts(t.app, payer.id)).toMatchObject({ balance: 1_300, spins: 0 });
    expect(await refunds(payer.id)).toHaveLength(1);
  });

  test('spec 10 M9: the money of a refused spin that went to the balance is taken back when the messenger refunds it, once', async () => {
    const [refused, won] = [await aPayer(), await aPayer()];
    const [unsold, sold] = [await invoiced(refused), await invoiced(won)];
    const wonCharge = await pay(won, sold);
    await changeWheel(t.app, { isEnabled: false });
    // The value of stars has changed since the invoice.
    await putSetting(t.app, { kind: 'system' }, 'MESSENGER_STARS_RATE_RUB', 2);
    const charge = await pay(refused, unsold);
    expect(await wheelFacts(t.app, refused.id)).toMatchObject({ balance: 2_000, spins: 0 });
    for (const [payer, chargeId, payload] of [
      [refused, charge, unsold],
      [won, wonCharge, sold],
    ] as const) {
      const update = {
        updateId: unique(),
        kind: 'stars_refunded',
        chargeId,
        payerMessengerId: payer.messengerId!,
        payload,
        stars: 10,
      } as const;
      for (let copy = 0; copy < 2; copy++) await receiveStarsUpdate(t.app, update, '{}', [wheelStars]);
      for (const callbackId of await callbackJobs(t.app, chargeId)) await processCallback(t.app, { callbackId }, [wheelStars]);
    }
    expect(await wheelFacts(t.app, refused.id)).toMatchObject({ balance: 0 });
    // The stars of a spin that was played were never on the balance: only the prize is, and stays.
    expect(await wheelFacts(t.app, won.id)).toMatchObject({ balance: 500 });
    expect(await checkLedger(t.app)).toEqual([]);
    await putSetting(t.app, { kind: 'system' }, 'MESSENGER_STARS_RATE_RUB', 1.3);
  });

  test('no prizes, no subscription or no remaining spins meanwhile: the same', async () => {
    const payers = [await aPayer(), await aPayer(), await aPayer()];
    const payloads = [];
    for (const payer of payers) payloads.push(await invoiced(payer));
    await t.app.db.sql('DELETE FROM subscriptions WHERE user_id = $1::int', [payers[0]!.id]);
    await pay(payers[0]!, payloads[0]!);
    await changeWheel(t.app, { dailySpinLimit: 1 });
    await pay(payers[1]!, payloads[1]!);
    await pay(payers[1]!, await invoicedAtLimit(payers[1]!));
    await t.app.db.sql('DELETE FROM wheel_prizes');
    await pay(payers[2]!, payloads[2]!);
    expect(await Promise.all(payers.map(async ({ id }) => (await wheelFacts(t.app, id)).spins))).toEqual([0, 1, 0]);
    expect(await Promise.all(payers.map(async ({ id }) => (await refunds(id)).length))).toEqual([1, 1, 1]);
  });

  /** An invoice that was made before the limit was reached. */
  async function invoicedAtLimit(payer: BuiltUser): Promise<string> {
    await changeWheel(t.app, { dailySpinLimit: 0 });
    const payload = await invoiced(payer);
    await changeWheel(t.app, { dailySpinLimit: 1 });
    return payload;
  }

  test('the invoice is refused in the documented order', async () => {
    const payer = await aUser(t.app, { language: 'en' });
    const refusal = () =>
      createSpinInvoice(t.app, { kind: 'user', userId: payer.id }).catch((error) => [error.status, error.detail]);
    await changeWheel(t.app, { isEnabled: false, spinCostStarsEnabled: false });
    expect(await refusal()).toEqual([400, 'The wheel is off at the moment']);
    await changeWheel(t.app, { isEnabled: true });
    expect(await refusal()).toEqual([400, 'Paying for spins with stars is off']);
    await changeWheel(t.app, { spinCostStarsEnabled: true });
    expect(await refusal()).toEqual([400, 'A spin for stars needs an active subscription']);
    await aStoredSubscription(t.app, payer.id, { end_date: addDays(t.app.clock.now(), 9) });
    await t.app.db.sql('DELETE FROM wheel_prizes');
    expect(await refusal()).toEqual([400, 'There are no prizes yet']);
  });
});
