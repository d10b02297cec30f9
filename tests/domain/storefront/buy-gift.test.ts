import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { buyGift } from '../../../src/domain/storefront/gifts/buy-gift.ts';
import { readGiftConfig } from '../../../src/domain/storefront/gifts/gift-config.ts';
import { fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { watchPurchases } from '../../../src/domain/storefront/purchases/watch-purchases.ts';
import { aUser, unique } from '../../support/builders.ts';
import {
  activate,
  aGiftTariff,
  anOrder,
  buy,
  confirmGift,
  fulfilments,
  giftOf,
  giftsAreOn,
  messagesTo,
  moneyOf,
  offerFacts,
  toEmail,
  toName,
} from '../../support/gift-samples.ts';
import { casesOf } from '../../support/payment-samples.ts';
import { aName, anEmail, mailsTo, panelAnswers, subscriptionOf } from '../../support/purchase-samples.ts';
import { aBuyer, aMembership, anOffer, aStoredSubscription, topUp } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
let tariffId: number;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
  await giftsAreOn(app);
  await app.db.sql('DELETE FROM guest_purchases'); // The job reads all of them, ten at a time.
  tariffId = await aGiftTariff(app);
});
const gateway = { paymentMethod: 'sandbox' };
const refusal = (text: string, status = 400) => expect.objectContaining({ status, detail: text });

describe('from the balance', () => {
  test('spec 03 H12, H24: debit, paid gift and job are one, and the recipient gets no row', async () => {
    const [buyer, friend] = [await aBuyer(app, 50_000), await aUser(app, { email: anEmail() })];
    const [{ email }] = (await app.db.sql<{ email: string }>('SELECT email FROM users WHERE id = $1::int', [friend.id])) as [
      { email: string },
    ];
    const bought = await buy(app, buyer, anOrder(tariffId, { ...toEmail(email.toUpperCase()), giftMessage: 'Enjoy' }));
    expect(bought).toEqual({ status: 'ok', code: expect.stringMatching(/^[\w-]{22}$/), paymentUrl: null, warning: null });
    const gift = await giftOf(app, bought.code);
    expect(gift).toMatchObject({
      source: 'cabinet',
      status: 'paid',
      amountKopeks: 30_000,
      buyerUserId: buyer.userId,
      userId: friend.id,
      paymentMethod: 'balance',
      paymentId: null,
      transactionId: expect.any(Number),
      paidAt: app.clock.now(),
    });
    expect(gift.token).toMatch(/^[\w-]{64}$/);
    const spent = await moneyOf(app, buyer);
    expect(spent).toMatchObject({
      rows: [{ type: 'gift_payment', amountKopeks: -30_000, paymentMethod: 'balance' }],
      balance: 20_000,
    });
    expect(spent.rows[0]!.description).toMatch(/^Gift: .* -> .*@example\.com$/);
    expect(await fulfilments(app, gift.id)).toBe(1);

    await fulfilPurchase(app, { purchaseId: gift.id });
    await panelAnswers(app, gift.id);
    expect((await giftOf(app, bought.code)).status).toBe('delivered');
    expect(await subscriptionOf(app, friend.id)).toMatchObject({
      tariffId,
      endDate: addDays(app.clock.now(), 30),
      deviceLimit: 3,
    });
    expect(await moneyOf(app, { kind: 'user', userId: friend.id })).toEqual({ rows: [], balance: 0 });
    expect(await mailsTo(app, email)).toEqual(['guest_gift_received']);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a code rests in paid: no job, no account, and no retry ends it', async () => {
    const buyer = await aBuyer(app, 30_000);
    const { code } = await buy(app, buyer, anOrder(tariffId));
    const gift = await giftOf(app, code);
    expect(gift).toMatchObject({ status: 'paid', userId: null, nextAttemptAt: null });
    expect(await fulfilments(app, gift.id)).toBe(0);
    await fulfilPurchase(app, { purchaseId: gift.id });
    t.clock.advance(3 * DAY_MS);
    await watchPurchases(app);
    expect(await giftOf(app, code)).toMatchObject({ status: 'paid', userId: null, grantedAt: null });
  });

  test('what the balance does not cover is refused and leaves nothing', async () => {
    const buyer = await aBuyer(app, 29_999);
    const email = anEmail();
    await expect(buy(app, buyer, anOrder(tariffId, toEmail(email)))).rejects.toEqual(refusal('Insufficient balance'));
    expect(await moneyOf(app, buyer)).toEqual({ rows: [], balance: 29_999 });
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE buyer_user_id = $1::int', [buyer.userId])).toEqual([]);
    expect(await app.db.sql('SELECT id FROM users WHERE email = $1', [email])).toEqual([]);
    expect(await mailsTo(app, email)).toEqual([]);
  });

  test('spec 03 H3: the account of an address is new and unverified, and its password goes to the address alone', async () => {
    const [buyer, email] = [await aBuyer(app, 30_000), anEmail()];
    const { code } = await buy(app, buyer, anOrder(tariffId, toEmail(email)));
    const gift = await giftOf(app, code);
    expect(gift.accountCreated).toBe(true);
    const [user] = await app.db.sql<{ emailVerified: boolean }>('SELECT email_verified FROM users WHERE id = $1::int', [
      gift.userId,
    ]);
    expect(user!.emailVerified).toBe(false);
    await fulfilPurchase(app, { purchaseId: gift.id });
    await panelAnswers(app, gift.id);
    expect(await mailsTo(app, email)).toEqual(['email_verification', 'guest_gift_received', 'guest_cabinet_credentials']);
    const secrets = await app.db.sql(
      'SELECT id FROM guest_purchases WHERE id = $1::int AND (cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL)',
      [gift.id],
    );
    expect(secrets).toEqual([]);
  });

  test('spec 03 H3: an existing account keeps its password and stays as verified as it was', async () => {
    const [buyer, email] = [await aBuyer(app, 30_000), anEmail()];
    const friend = await aUser(app, { email });
    await app.db.sql('UPDATE users SET email_verified = false WHERE id = $1::int RETURNING id', [friend.id]);
    const { code } = await buy(app, buyer, anOrder(tariffId, toEmail(email)));
    expect(await giftOf(app, code)).toMatchObject({ userId: friend.id, accountCreated: false });
    const [user] = await app.db.sql('SELECT password_hash, email_verified FROM users WHERE id = $1::int', [friend.id]);
    expect(user).toEqual({ passwordHash: null, emailVerified: false });
  });

  test('spec 03 H23: what the buyer wrote is escaped in the message to the recipient', async () => {
    const [buyer, friend] = [await aBuyer(app, 30_000), await aUser(app, { language: 'en' })];
    await aStoredSubscription(app, friend.id);
    const [{ username }] = (await app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [
      friend.id,
    ])) as [{ username: string }];
    const { code } = await buy(app, buyer, anOrder(tariffId, { ...toName(username), giftMessage: '<b>x</b> & <script>' }));
    await fulfilPurchase(app, { purchaseId: (await giftOf(app, code)).id });
    const [message] = await messagesTo(app, friend.messengerId);
    expect(message).toContain('&lt;b&gt;x&lt;/b&gt; &amp; &lt;script&gt;');
    expect(message).not.toContain('<script>');
  });

  test('spec 03 H6: a recipient with a subscription has to agree, which no job does', async () => {
    const [buyer, friend] = [await aBuyer(app, 30_000), await aUser(app, { email: anEmail() })];
    await aStoredSubscription(app, friend.id);
    const before = await subscriptionOf(app, friend.id);
    const [{ email }] = (await app.db.sql<{ email: string }>('SELECT email FROM users WHERE id = $1::int', [friend.id])) as [
      { email: string },
    ];
    const { code } = await buy(app, buyer, anOrder(tariffId, toEmail(email)));
    await fulfilPurchase(app, { purchaseId: (await giftOf(app, code)).id });
    t.clock.advance(20 * MINUTE_MS);
    await watchPurchases(app);
    expect((await giftOf(app, code)).status).toBe('pending_activation');
    expect((await subscriptionOf(app, friend.id))!.endDate).toEqual(before!.endDate);
  });

  test('one key buys once, also after gifts were switched off and the limit was reached', async () => {
    const buyer = await aBuyer(app, 100_000);
    const caller = { idempotencyKey: `gift-${unique()}`, ip: null };
    const order = anOrder(tariffId);
    const first = await buyGift(app, buyer, order, caller);
    for (let call = 0; call < 6; call++) await buyGift(app, buyer, order, caller);
    await giftsAreOn(app, 'false');
    expect(await buyGift(app, buyer, order, caller)).toEqual(first);
    expect((await moneyOf(app, buyer)).balance).toBe(70_000);
    await expect(buyGift(app, buyer, { ...order, periodDays: 90 }, caller)).rejects.toMatchObject({ status: 422 });
  });
});

describe('the recipient in the messenger', () => {
  test('unknown to the messenger and here: a warning, and the gift waits for the first sign-in', async () => {
    const buyer = await aBuyer(app, 30_000);
    const bought = await buy(app, buyer, anOrder(tariffId, toName(aName())));
    expect(bought.warning).toBe('messenger_unresolvable');
    expect(await giftOf(app, bought.code)).toMatchObject({ recipientWarning: 'messenger_unresolvable', accountCreated: true });
  });

  test('known to the messenger, or here: no warning', async () => {
    const [name, friend] = [aName(), await aUser(app)];
    const { servers } = await workerSandbox();
    await servers.messenger!.setPerson(name.slice(1), friend.messengerId);
    const buyer = await aBuyer(app, 60_000);
    const bought = await buy(app, buyer, anOrder(tariffId, toName(name)));
    expect([bought.warning, (await giftOf(app, bought.code)).userId]).toEqual([null, friend.id]);
    const [{ username }] = (await app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [
      friend.id,
    ])) as [{ username: string }];
    expect(await buy(app, buyer, anOrder(tariffId, toName(username.toUpperCase())))).toMatchObject({ warning: null });
  });

  test('is not oneself: by name, by address, and by the id behind another name', async () => {
    const me = await aUser(app, { email: anEmail() });
    const actor = { kind: 'user', userId: me.id } as const;
    await topUp(app, me.id, 100_000);
    const [user] = await app.db.sql<{ username: string; email: string }>('SELECT username, email FROM users WHERE id = $1::int', [
      me.id,
    ]);
    const name = aName();
    const { servers } = await workerSandbox();
    await servers.messenger!.setPerson(name.slice(1), me.messengerId);
    for (const recipient of [toName(user!.username.toUpperCase()), toEmail(user!.email.toUpperCase()), toName(name)]) {
      await expect(buy(app, actor, anOrder(tariffId, recipient))).rejects.toEqual(refusal('Cannot gift to yourself'));
    }
    expect((await moneyOf(app, actor)).balance).toBe(100_000);
  });

  test('no transaction is open while the messenger is asked, and its silence does not stop the purchase', async () => {
    const buyer = await aBuyer(app, 30_000);
    let asked = 0;
    const findPerson = async () => {
      asked += 1;
      // The row of the buyer is free: another transaction changes it.
      await topUp(app, buyer.userId, 1);
      throw new Error('no answer');
    };
    const silent: App = { ...app, ports: { ...app.ports, messenger: { ...app.ports.messenger, findPerson } } };
    expect(await buy(silent, buyer, anOrder(tariffId, toName(aName())))).toMatchObject({
      status: 'ok',
      warning: 'messenger_unresolvable',
    });
    expect([asked, (await moneyOf(app, buyer)).balance]).toEqual([1, 1]);
  });
});

describe('through a provider', () => {
  test('purchase and invoice are stored before the provider is called, and the money makes the gift paid', async () => {
    const buyer = await aBuyer(app);
    const seen: unknown[] = [];
    const { createInvoice } = provider;
    provider.createInvoice = async (request) => {
      seen.push(...(await app.db.sql('SELECT status FROM guest_purchases WHERE payment_id = $1::int', [request.paymentId])));
      return createInvoice(request);
    };
    const email = anEmail();
    const bought = await buy(app, buyer, anOrder(tariffId, { ...gateway, ...toEmail(email) }));
    expect(bought).toMatchObject({
      status: 'created',
      paymentUrl: expect.stringMatching(/^https:\/\/pay\.example\.com\//),
      warning: null,
    });
    expect(seen).toEqual([{ status: 'pending' }]);
    const [request] = provider.created;
    expect(request).toMatchObject({ amountKopeks: 30_000, description: expect.stringMatching(/^Gift: .+ \(30d\)$/) });
    expect(request!.returnUrls.result).toBe(`https://cabinet.example.com/gift/result?token=${bought.code}`);
    expect(request!.metadata).toMatchObject({ purpose: 'guest_purchase', source: 'cabinet' });

    await confirmGift(app, provider, bought.code);
    await confirmGift(app, provider, bought.code);
    const gift = await giftOf(app, bought.code);
    expect(gift).toMatchObject({ status: 'paid', userId: expect.any(Number), transactionId: expect.any(Number) });
    expect(await fulfilments(app, gift.id)).toBe(1);
    // Spec 03 H24: one revenue row, of the buyer, by the provider.
    expect(await moneyOf(app, buyer)).toMatchObject({
      rows: [{ type: 'subscription_payment', amountKopeks: -30_000, paymentMethod: 'sandbox' }],
      balance: 0,
    });
    expect(await moneyOf(app, { kind: 'user', userId: gift.userId! })).toEqual({ rows: [], balance: 0 });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 03 H24: a code that is paid has its revenue row before anybody activates it', async () => {
    const buyer = await aBuyer(app);
    const { code } = await buy(app, buyer, anOrder(tariffId, gateway));
    await confirmGift(app, provider, code);
    const gift = await giftOf(app, code);
    expect(gift).toMatchObject({ status: 'paid', userId: null, nextAttemptAt: null });
    expect(await fulfilments(app, gift.id)).toBe(0);
    const revenue = { rows: [{ type: 'subscription_payment', amountKopeks: -30_000, paymentMethod: 'sandbox' }], balance: 0 };
    expect(await moneyOf(app, buyer)).toMatchObject(revenue);
    const friend = { kind: 'user', userId: (await aUser(app)).id } as const;
    await activate(app, friend, code);
    await panelAnswers(app, gift.id);
    expect((await giftOf(app, code)).status).toBe('delivered');
    expect((await moneyOf(app, buyer)).rows).toHaveLength(1);
    expect(await moneyOf(app, friend)).toEqual({ rows: [], balance: 0 });
  });

  test('spec 03 H14: the method is checked against what the user is offered, and against its limits', async () => {
    const buyer = await aBuyer(app);
    const unavailable = refusal('Invalid or unavailable payment method');
    for (const paymentMethod of ['yookassa', 'tribute', 'sandbox_sbp', 'sandboxx', 'balance', '%']) {
      await expect(buy(app, buyer, anOrder(tariffId, { paymentMethod }))).rejects.toEqual(unavailable);
      await app.db.sql('DELETE FROM rate_limit_windows');
    }
    const change = (sql: string) =>
      app.db.sql(`UPDATE payment_method_configs SET ${sql} WHERE method_id = 'sandbox' RETURNING method_id`);
    try {
      await change('min_amount_kopeks = 30001');
      await expect(buy(app, buyer, anOrder(tariffId, gateway))).rejects.toEqual(refusal('Minimum amount is 300.01 RUB'));
      await change('min_amount_kopeks = NULL, max_amount_kopeks = 29999');
      await expect(buy(app, buyer, anOrder(tariffId, gateway))).rejects.toEqual(refusal('Maximum amount is 299.99 RUB'));
      await change('max_amount_kopeks = NULL, is_enabled = false');
      await expect(buy(app, buyer, anOrder(tariffId, gateway))).rejects.toEqual(unavailable);
    } finally {
      await change('min_amount_kopeks = NULL, max_amount_kopeks = NULL, is_enabled = true');
    }
    expect(provider.created).toEqual([]);
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE buyer_user_id = $1::int', [buyer.userId])).toEqual([]);
  });

  test('a provider that makes no invoice leaves nothing', async () => {
    const buyer = await aBuyer(app);
    provider.createFaults = ['unavailable', 'crash'];
    const down = refusal('Payment provider is unavailable, please try again later', 502);
    await expect(buy(app, buyer, anOrder(tariffId, gateway))).rejects.toEqual(down);
    await expect(buy(app, buyer, anOrder(tariffId, gateway))).rejects.toEqual(down);
    provider.paymentUrl = 'javascript:alert(1)//';
    const invalid = refusal('Payment provider returned an invalid response', 502);
    await expect(buy(app, buyer, anOrder(tariffId, gateway))).rejects.toEqual(invalid);
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE buyer_user_id = $1::int', [buyer.userId])).toEqual([]);
  });

  test('spec 03 H15: unpaid for a day it expires, and money that comes later still makes it paid', async () => {
    const buyer = await aBuyer(app);
    const { code } = await buy(app, buyer, anOrder(tariffId, gateway));
    t.clock.advance(DAY_MS + MINUTE_MS);
    await watchPurchases(app);
    expect((await giftOf(app, code)).status).toBe('expired');
    await confirmGift(app, provider, code);
    expect((await giftOf(app, code)).status).toBe('paid');
  });

  test('spec 03 H21: another amount fails the gift, credits nothing and opens a case', async () => {
    const buyer = await aBuyer(app);
    const { code } = await buy(app, buyer, anOrder(tariffId, gateway));
    const { paymentId } = await giftOf(app, code);
    for (const invoice of provider.invoices.values()) invoice.amountKopeks = 29_999;
    await confirmGift(app, provider, code);
    expect(await giftOf(app, code)).toMatchObject({ status: 'failed', lastError: 'amount_mismatch', paidAt: null });
    expect((await casesOf(app, paymentId!)).map(({ kind }) => kind)).toEqual(['amount_mismatch']);
    expect((await moneyOf(app, buyer)).rows).toEqual([]);
  });

  test('money for a gift whose buyer is gone is a case for an administrator', async () => {
    const buyer = await aBuyer(app);
    const { code } = await buy(app, buyer, anOrder(tariffId, gateway));
    const { paymentId } = await giftOf(app, code);
    await app.db.sql('UPDATE guest_purchases SET buyer_user_id = NULL WHERE code = $1 RETURNING id', [code]);
    await confirmGift(app, provider, code);
    expect((await casesOf(app, paymentId!)).map(({ kind }) => kind)).toEqual(['no_user']);
    expect((await giftOf(app, code)).status).toBe('pending');
  });
});

describe('the price', () => {
  test('is that of the group, then of the personal discount, which the payment uses up', async () => {
    const buyer = await aBuyer(app, 100_000);
    await aMembership(app, buyer.userId, { period_discounts: { 30: 10 } });
    await anOffer(app, buyer.userId, 50);
    const config = await readGiftConfig(app, buyer);
    const shown = config.tariffs.find(({ id }) => id === tariffId)!.periods[0]!;
    expect(shown).toMatchObject({ days: 30, priceKopeks: 13_500, originalPriceKopeks: 30_000, discountPercent: 55 });
    const { code } = await buy(app, buyer, anOrder(tariffId));
    expect(await giftOf(app, code)).toMatchObject({ amountKopeks: 13_500, promoOfferPercent: 50 });
    expect((await moneyOf(app, buyer)).balance).toBe(86_500);
    expect(await offerFacts(app, buyer)).toEqual({ percent: 0, logs: [{ action: 'consumed', percent: 50, source: 'test' }] });
    await buy(app, buyer, anOrder(tariffId));
    expect((await moneyOf(app, buyer)).balance).toBe(86_500 - 27_000);
  });

  test('spec 03 H14, spec 10 M7: an invoice does not use the discount up, its payment does, and the log names it', async () => {
    const buyer = await aBuyer(app);
    await anOffer(app, buyer.userId, 50);
    const { code } = await buy(app, buyer, anOrder(tariffId, gateway));
    expect(await offerFacts(app, buyer)).toEqual({ percent: 50, logs: [] });
    await confirmGift(app, provider, code);
    expect(await giftOf(app, code)).toMatchObject({ status: 'paid', amountKopeks: 15_000 });
    const logs = [{ action: 'consumed_external_payment', percent: 50, source: 'test' }];
    expect(await offerFacts(app, buyer)).toEqual({ percent: 0, logs });
  });

  test('spec 03 H14: a discount that was got after the invoice stays', async () => {
    const buyer = await aBuyer(app);
    await anOffer(app, buyer.userId, 50);
    const { code } = await buy(app, buyer, anOrder(tariffId, gateway));
    await anOffer(app, buyer.userId, 20);
    await confirmGift(app, provider, code);
    expect((await giftOf(app, code)).status).toBe('paid');
    expect(await offerFacts(app, buyer)).toMatchObject({ percent: 20, logs: [{ percent: 50 }] });
  });

  test('is at least one kopek, also at a discount of everything', async () => {
    const buyer = await aBuyer(app, 1);
    await anOffer(app, buyer.userId, 100);
    const { code } = await buy(app, buyer, anOrder(tariffId));
    expect((await giftOf(app, code)).amountKopeks).toBe(1);
    expect((await moneyOf(app, buyer)).balance).toBe(0);
  });
});
