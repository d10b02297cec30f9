import { beforeEach, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import { syncServersOnce } from '../../../src/domain/catalog/server-sync.ts';
import { startPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { activateTrial } from '../../../src/domain/subscriptions/activate-trial.ts';
import { listMiniappTariffs } from '../../../src/domain/subscriptions/miniapp/tariffs.ts';
import { insufficientFundsForTrial } from '../../../src/domain/subscriptions/purchase/insufficient-funds.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { readPurchaseOptions, readTrialInfo } from '../../../src/domain/subscriptions/read-subscription.ts';
import { switchTariff } from '../../../src/domain/subscriptions/switch-tariff.ts';
import { anOrder, aStorefront } from '../../support/purchase-samples.ts';
import { aBuyer, aServer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let tariffId: number;
beforeEach(async () => {
  t = await testApp({ environment: { TRIAL_PAYMENT_ENABLED: 'true', TRIAL_ACTIVATION_PRICE: '1000' } });
  for (const table of ['subscriptions', 'tariffs', 'server_squads']) await t.app.db.sql(`DELETE FROM ${table}`);
  tariffId = await aTariff(t.app, { name: 'Every server', allowed_squads: [] });
});

const REFUSED = {
  status: 400,
  code: 'no_servers',
  detail: { code: 'no_servers', message: 'No servers are available for this purchase' },
};
const order = (id: number) => ({ tariffId: id, periodDays: 30, trafficGb: null, idempotencyKey: null });
const trial = (buyer: UserActor) => activateTrial(t.app, buyer, null, insufficientFundsForTrial);

/** Money, orders and subscriptions of a user. */
const stateOf = (buyer: UserActor) =>
  rowOf<object>(
    t.app,
    `SELECT u.balance_kopeks, (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id) AS transactions,
       (SELECT count(*)::int FROM subscriptions s WHERE s.user_id = u.id AND s.status = 'active') AS active
     FROM users u WHERE u.id = $1::int`,
    [buyer.userId],
  );

const offered = async (buyer: UserActor) => {
  const options = await readPurchaseOptions(t.app, buyer);
  const { tariffs } = await listMiniappTariffs(t.app, buyer);
  return [options.salesMode === 'tariffs' ? options.tariffs.length : null, tariffs.length];
};

describe('08 P5: what would give no server', () => {
  test('a tariff is neither offered nor sold, before any money moves', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    const before = await stateOf(buyer);
    expect(await offered(buyer)).toEqual([0, 0]);
    await expect(purchaseTariff(t.app, buyer, order(tariffId))).rejects.toMatchObject(REFUSED);
    // Without the money too: there is nothing to save for.
    await expect(purchaseTariff(t.app, await aBuyer(t.app), order(tariffId))).rejects.toMatchObject(REFUSED);
    expect(await stateOf(buyer)).toEqual(before);

    await aServer(t.app, { is_available: false });
    expect(await offered(buyer)).toEqual([0, 0]);
    await expect(purchaseTariff(t.app, buyer, order(tariffId))).rejects.toMatchObject(REFUSED);
    const { uuid } = await aServer(t.app);
    expect(await offered(buyer)).toEqual([1, 1]);
    expect((await purchaseTariff(t.app, buyer, order(tariffId))).subscription.connectedSquads).toEqual([uuid]);
  });

  test('a switch that leaves the subscription without any is refused', async () => {
    const from = await aTariff(t.app, { period_prices: { 30: 10_000 } });
    const buyer = await aBuyer(t.app, 90_000);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: from });
    const before = await stateOf(buyer);
    await expect(switchTariff(t.app, buyer, order(tariffId))).rejects.toMatchObject(REFUSED);
    expect(await stateOf(buyer)).toEqual(before);
  });

  test('a trial is neither offered nor started, nor paid for', async () => {
    const buyer = await aBuyer(t.app, 5_000);
    const before = await stateOf(buyer);
    await aServer(t.app, { is_trial_eligible: false });
    expect(await readTrialInfo(t.app, buyer)).toMatchObject({ isAvailable: false, reasonUnavailable: REFUSED.detail.message });
    await expect(trial(buyer)).rejects.toMatchObject(REFUSED);
    expect(await stateOf(buyer)).toEqual(before);
    const { uuid } = await aServer(t.app, { is_trial_eligible: true });
    expect(await readTrialInfo(t.app, buyer)).toMatchObject({ isAvailable: true, reasonUnavailable: null });
    expect((await trial(buyer)).subscription.connectedSquads).toEqual([uuid]);
  });

  test('a landing opens no invoice for it', async () => {
    const storefront = await aStorefront(t.app, {}, { allowed_squads: [] });
    const caller = { ip: null, idempotencyKey: null };
    await expect(startPurchase(t.app, anOrder(storefront), caller)).rejects.toMatchObject(REFUSED);
    expect(await t.app.db.sql('SELECT 1 AS found FROM guest_purchases WHERE tariff_id = $1::int', [storefront.tariffId])).toEqual(
      [],
    );
  });

  test('after the first synchronisation of an installation everything can be bought and tried', async () => {
    await syncServersOnce(t.app);
    const [buyer, other] = [await aBuyer(t.app, 50_000), await aBuyer(t.app, 5_000)];
    expect((await purchaseTariff(t.app, buyer, order(tariffId))).subscription.connectedSquads.length).toBeGreaterThan(0);
    expect((await trial(other)).subscription.connectedSquads).toHaveLength(1);
  });
});
