import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { spinWheel } from '../../src/domain/engagement/wheel/spin-wheel.ts';
import { activatePromocode } from '../../src/domain/promo/codes/activate-promocode.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../src/domain/provisioning/request-provisioning.ts';
import { buyGift } from '../../src/domain/storefront/gifts/buy-gift.ts';
import { renewDue } from '../../src/domain/subscriptions/autopay/renew-due.ts';
import { chargeDays, togglePause } from '../../src/domain/subscriptions/daily.ts';
import { purchaseClassic } from '../../src/domain/subscriptions/purchase-classic.ts';
import { purchaseDevices } from '../../src/domain/subscriptions/purchase-devices.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { purchaseTraffic } from '../../src/domain/subscriptions/purchase-traffic.ts';
import { renewSubscription } from '../../src/domain/subscriptions/renew-subscription.ts';
import { spendTopup } from '../../src/domain/subscriptions/spend-topup.ts';
import { switchTariff } from '../../src/domain/subscriptions/switch-tariff.ts';
import { switchTraffic } from '../../src/domain/subscriptions/switch-traffic.ts';
import { aGiftTariff, anOrder, giftsAreOn } from '../support/gift-samples.ts';
import { aPromocode } from '../support/promocode-samples.ts';
import { aSubscription, withPanel } from '../support/provisioning-setup.ts';
import { aBuyer, anOffer, aServer, aStoredSubscription, aTariff } from '../support/sale-samples.ts';
import { statementsDuring } from '../support/statement-recorder.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { aWheel } from '../support/wheel-samples.ts';

/** The statements of one operation at most, BEGIN and COMMIT included (docs/database.md, Round trips). */
const MOST = 6;

let tariffs: TestApp;
let classic: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Round trips are counted on a PostgreSQL server: set TEST_DATABASE_URL');
  tariffs = await testApp({ environment: { SALES_MODE: 'tariffs' } });
  classic = await testApp({ environment: { SALES_MODE: 'classic', TRAFFIC_PACKAGES_CONFIG: '10:5000:true,50:20000:true' } });
});

const key = () => ({ idempotencyKey: randomUUID() });
const ago = (days: number) => new Date(tariffs.clock.now().getTime() - days * 86_400_000);

/** Runs an operation that makes one transaction and nothing outside of it. @returns its statements */
async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
  const { transactions, others } = await statementsDuring(run);
  expect(others).toEqual([]);
  expect(transactions).toHaveLength(1);
  expect(transactions[0]!.at(-1)).toBe('COMMIT');
  return transactions[0]!;
}

/** Runs a job. @returns the statements of the one transaction in which it sells something */
async function saleOf(job: () => Promise<unknown>): Promise<string[]> {
  const { transactions } = await statementsDuring(job);
  const sales = transactions.filter((statements) => statements.some((text) => text.includes('complete_sale')));
  expect(sales).toHaveLength(1);
  return sales[0]!;
}

async function balanceOf(userId: number): Promise<number> {
  const [row] = await tariffs.app.db.sql<{ balanceKopeks: number }>('SELECT balance_kopeks FROM users WHERE id = $1::int', [
    userId,
  ]);
  return row!.balanceKopeks;
}

/** The user has no messenger, but an address that mails may go to. @returns the address */
async function giveMailOnly(userId: number): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  await tariffs.app.db.sql(
    'UPDATE users SET messenger_id = NULL, email = $2, email_verified = true WHERE id = $1::int RETURNING id',
    [userId, email],
  );
  return email;
}

async function aSubscriber(app: TestApp, tariffId: number | null, columns: Record<string, unknown> = {}) {
  const buyer = await aBuyer(app.app, 500_000);
  await aStoredSubscription(app.app, buyer.userId, { tariff_id: tariffId, ...columns });
  return buyer;
}

test('a push of a user that the panel has: the lease, the row and the result, without a transaction', async () => {
  const { app } = await withPanel();
  const { id } = await aSubscription(app);
  const push = async () => {
    await inTransaction(app, (t) => requestProvisioning(t, id));
    return statementsDuring(() => pushSubscription(app, id));
  };
  expect((await push()).transactions).toHaveLength(1);
  const { transactions, others } = await push();
  expect(transactions).toEqual([]);
  expect(others).toHaveLength(3);
});

describe('sales of tariffs', () => {
  test('a first purchase: the lock, the sale and the answer', async () => {
    const tariffId = await aTariff(tariffs.app);
    const buyer = await aBuyer(tariffs.app, 100_000);
    const statements = await statementsOf(() =>
      purchaseTariff(tariffs.app, buyer, { tariffId, periodDays: 30, trafficGb: null, ...key() }),
    );
    expect(statements).toHaveLength(5);
    const functions = statements.map((text) => text.match(/\b(?:open_sale|complete_sale|record_effects)\b/)?.[0] ?? text);
    expect(functions).toEqual(['BEGIN', 'open_sale', 'complete_sale', 'record_effects', 'COMMIT']);
  });

  test('a repeat with the same key reads the answer and nothing else', async () => {
    const tariffId = await aTariff(tariffs.app);
    const buyer = await aBuyer(tariffs.app, 100_000);
    const order = { tariffId, periodDays: 30, trafficGb: null, ...key() };
    const first = await purchaseTariff(tariffs.app, buyer, order);
    let repeated: unknown;
    const statements = await statementsOf(async () => {
      repeated = await purchaseTariff(tariffs.app, buyer, order);
    });
    expect(statements).toHaveLength(3);
    expect(repeated).toEqual(first);
  });

  test('a purchase with a personal discount', async () => {
    const tariffId = await aTariff(tariffs.app);
    const buyer = await aSubscriber(tariffs, tariffId);
    await anOffer(tariffs.app, buyer.userId, 10);
    const order = { tariffId, periodDays: 30, trafficGb: null, ...key() };
    expect(await statementsOf(() => purchaseTariff(tariffs.app, buyer, order))).toHaveLength(5);
  });

  test('a purchase of which the buyer is notified by mail', async () => {
    const tariffId = await aTariff(tariffs.app);
    const buyer = await aBuyer(tariffs.app, 100_000);
    const email = await giveMailOnly(buyer.userId);
    const order = { tariffId, periodDays: 30, trafficGb: null, ...key() };
    expect((await statementsOf(() => purchaseTariff(tariffs.app, buyer, order))).length).toBeLessThanOrEqual(MOST);
    const mails = await tariffs.app.db.sql(
      `SELECT m.id FROM outgoing_mails m JOIN jobs.job j ON j.name = 'mail.send' AND j.data ->> 'mailId' = m.id::text
       WHERE m.recipient = $1`,
      [email],
    );
    expect(mails).toHaveLength(1);
  });

  test.each([
    ['renewal', (id: number) => renewSubscription(tariffs.app, { kind: 'user', userId: id }, { periodDays: 30, ...key() })],
    ['devices', (id: number) => purchaseDevices(tariffs.app, { kind: 'user', userId: id }, { devices: 1, ...key() })],
    ['traffic', (id: number) => purchaseTraffic(tariffs.app, { kind: 'user', userId: id }, { gb: 10, ...key() })],
  ])('%s', async (_name, run) => {
    const columns = { traffic_topup_enabled: true, traffic_topup_packages: { 10: 5_000 }, device_price_kopeks: 1_000 };
    const buyer = await aSubscriber(tariffs, await aTariff(tariffs.app, columns));
    expect((await statementsOf(() => run(buyer.userId))).length).toBeLessThanOrEqual(MOST);
  });

  test('a switch of the tariff', async () => {
    const buyer = await aSubscriber(tariffs, await aTariff(tariffs.app));
    const order = { tariffId: await aTariff(tariffs.app, { period_prices: { 30: 90_000 } }), periodDays: null, trafficGb: null };
    const statements = await statementsOf(() => switchTariff(tariffs.app, buyer, { ...order, ...key() }));
    expect(statements.length).toBeLessThanOrEqual(MOST);
  });

  test('autopay, also when the owner is notified by mail', async () => {
    const columns = { autopay_enabled: true, end_date: ago(-1) };
    for (const hasMailOnly of [false, true]) {
      const buyer = await aSubscriber(tariffs, await aTariff(tariffs.app), columns);
      if (hasMailOnly) await giveMailOnly(buyer.userId);
      expect((await saleOf(() => renewDue(tariffs.app))).length).toBeLessThanOrEqual(MOST);
    }
  });

  test('a day of a daily tariff, by the service and by its owner', async () => {
    const tariffId = await aTariff(tariffs.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const stopped = { status: 'expired', end_date: ago(0.5) };
    const buyer = await aSubscriber(tariffs, tariffId, stopped);
    expect((await saleOf(() => chargeDays(tariffs.app))).length).toBeLessThanOrEqual(MOST);
    expect(await balanceOf(buyer.userId)).toBe(499_000);
    const owner = await aSubscriber(tariffs, tariffId, stopped);
    const resume = await statementsOf(() => togglePause(tariffs.app, owner, randomUUID()));
    expect(resume.length).toBeLessThanOrEqual(MOST);
  });
});

describe('classic sales', () => {
  test('a purchase and a renewal', async () => {
    const { uuid } = await aServer(classic.app);
    const buyer = await aBuyer(classic.app, 500_000);
    const selection = { periodId: null, periodDays: 30, trafficGb: 10, squadUuids: [uuid], devices: 1 };
    const purchase = await statementsOf(() => purchaseClassic(classic.app, buyer, { selection, ...key() }));
    expect(purchase.length).toBeLessThanOrEqual(MOST);
    const renewal = await statementsOf(() => renewSubscription(classic.app, buyer, { periodDays: 30, ...key() }));
    expect(renewal.length).toBeLessThanOrEqual(MOST);
  });

  test('a switch of the traffic', async () => {
    const buyer = await aSubscriber(classic, null, { traffic_limit_gb: 10 });
    const statements = await statementsOf(() => switchTraffic(classic.app, buyer, { gb: 50, ...key() }));
    expect(statements.length).toBeLessThanOrEqual(MOST);
  });
});

describe('what shares the sale or the ledger', () => {
  test('a top-up that autopay spends', async () => {
    const t = await testApp({ environment: { SALES_MODE: 'tariffs', AUTO_PURCHASE_AFTER_TOPUP_ENABLED: 'true' } });
    const buyer = await aSubscriber(t, await aTariff(t.app), { autopay_enabled: true, end_date: ago(1) });
    const statements = await statementsOf(() => spendTopup(t.app, buyer.userId));
    // The mark of the top-up is one statement more.
    expect(statements.length).toBeLessThan(MOST);
    expect(statements.some((text) => text.includes('complete_sale'))).toBe(true);
  });

  test('a spin of the wheel', async () => {
    await aWheel(tariffs.app, [{ prizeType: 'balance_bonus', prizeValue: 500, prizeValueKopeks: 500 }]);
    const buyer = await aBuyer(tariffs.app, 100_000);
    expect(await statementsOf(() => spinWheel(tariffs.app, buyer, 'messenger_stars', randomUUID()))).toHaveLength(MOST);
  });

  test('a promo code', async () => {
    const code = await aPromocode(tariffs.app);
    const buyer = await aBuyer(tariffs.app);
    const { transactions } = await statementsDuring(() => activatePromocode(tariffs.app, buyer, code.code, randomUUID()));
    expect(transactions.map((statements) => statements.length)).toEqual([6, 6]);
  });
});

test('a gift from the balance, with a discount: the lock, the debit, the gift, the discount and the answer', async () => {
  await giftsAreOn(tariffs.app);
  const tariffId = await aGiftTariff(tariffs.app);
  const buyer = await aBuyer(tariffs.app, 100_000);
  const buy = async () => {
    const order = anOrder(tariffId);
    const { transactions } = await statementsDuring(() => buyGift(tariffs.app, buyer, order, { ...key(), ip: null }));
    expect(transactions).toHaveLength(1);
    return transactions[0]!;
  };
  expect(await buy()).toHaveLength(6);
  await anOffer(tariffs.app, buyer.userId, 10);
  expect(await buy()).toHaveLength(7);
  expect(await balanceOf(buyer.userId)).toBe(43_000);
});
