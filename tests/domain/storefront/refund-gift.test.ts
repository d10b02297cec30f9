import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { refundGift, resendGift } from '../../../src/domain/storefront/gifts/refund-gift.ts';
import { fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { aUser } from '../../support/builders.ts';
import {
  aCode,
  activate,
  aGiftTariff,
  anOrder,
  buy,
  confirmGift,
  giftOf,
  giftsAreOn,
  messagesTo,
  moneyOf,
  toEmail,
  toName,
} from '../../support/gift-samples.ts';
import { anEmail, mailsTo, panelAnswers } from '../../support/purchase-samples.ts';
import { aBuyer, aStoredSubscription } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let provider: ScriptedProvider;
let tariffId: number;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
  await giftsAreOn(app);
  tariffId = await aGiftTariff(app);
});
const operator = { kind: 'system', name: 'command line' } as const;
const refund = (id: number) => refundGift(app, operator, id, 'the buyer asked');
const refusal = (text: string, status = 409) => expect.objectContaining({ status, detail: text });

async function auditOf(id: number) {
  return app.db.sql<{ action: string; actorName: string; details: Record<string, unknown> }>(
    "SELECT action, actor_name, details FROM admin_audit_log WHERE resource_type = 'gifts' AND resource_id = $1 ORDER BY id",
    [String(id)],
  );
}

describe('a refund', () => {
  test('gives the money of an unclaimed code back, once, and the code is dead', async () => {
    const { buyer, code, id } = await aCode(app, tariffId);
    const refunded = await refund(id);
    expect(refunded).toMatchObject({ purchaseId: id, userId: buyer.userId, amountKopeks: 30_000, balanceKopeks: 100_000 });
    expect(await moneyOf(app, buyer)).toMatchObject({
      rows: [{ type: 'gift_payment' }, { type: 'refund', amountKopeks: 30_000, description: `Refund of gift #${id}` }],
      balance: 100_000,
    });
    expect(await giftOf(app, code)).toMatchObject({
      status: 'failed',
      refundTransactionId: refunded.transactionId,
      lastError: 'refunded: the buyer asked',
    });
    await expect(refund(id)).rejects.toEqual(refusal('This gift has been refunded already'));
    const friend = await aUser(app);
    await expect(activate(app, { kind: 'user', userId: friend.id }, code)).rejects.toEqual(
      refusal('This gift cannot be activated', 400),
    );
    expect(await auditOf(id)).toMatchObject([
      {
        action: 'gifts:refund',
        actorName: 'command line',
        details: { before: { status: 'paid' }, after: { reason: 'the buyer asked', amountKopeks: 30_000 } },
      },
    ]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('the database itself refuses to give what was refunded, and to refund what was given', async () => {
    const { code, id } = await aCode(app, tariffId);
    const { transactionId } = await refund(id);
    for (const change of ["status = 'paid'", "status = 'delivered', delivered_at = now()", 'granted_at = now()']) {
      await expect(app.db.sql(`UPDATE guest_purchases SET ${change} WHERE id = $1::int RETURNING id`, [id])).rejects.toThrow(
        /guest_purchases_refunded/,
      );
    }
    const other = await aCode(app, tariffId);
    await expect(
      app.db.sql('UPDATE guest_purchases SET refund_transaction_id = $2::int WHERE id = $1::int RETURNING id', [
        other.id,
        transactionId,
      ]),
    ).rejects.toThrow(/guest_purchases_refund/);
    expect((await giftOf(app, code)).status).toBe('failed');
  });

  test('of a gift that was paid through a provider goes to the balance', async () => {
    const buyer = await aBuyer(app);
    const { code } = await buy(app, buyer, anOrder(tariffId, { paymentMethod: 'sandbox' }));
    const { id } = await giftOf(app, code);
    await expect(refund(id)).rejects.toEqual(refusal('This gift has not been paid'));
    await confirmGift(app, provider, code);
    await refund(id);
    expect((await moneyOf(app, buyer)).balance).toBe(30_000);
    // The provider repeats its callback.
    await confirmGift(app, provider, code);
    expect((await giftOf(app, code)).status).toBe('failed');
    expect((await moneyOf(app, buyer)).balance).toBe(30_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('of a directed gift is possible until its recipient has asked for it, and nothing gives it afterwards', async () => {
    const email = anEmail();
    const [buyer, friend] = [await aBuyer(app, 100_000), await aUser(app, { email })];
    await aStoredSubscription(app, friend.id);
    const first = await giftOf(app, (await buy(app, buyer, anOrder(tariffId, toEmail(email)))).code);
    await refund(first.id);
    await fulfilPurchase(app, { purchaseId: first.id });
    expect(await giftOf(app, first.code)).toMatchObject({ status: 'failed', grantedAt: null });

    const second = await giftOf(app, (await buy(app, buyer, anOrder(tariffId, toEmail(email)))).code);
    await fulfilPurchase(app, { purchaseId: second.id });
    await activate(app, { kind: 'user', userId: friend.id }, second.code);
    await expect(refund(second.id)).rejects.toEqual(refusal('This gift has been claimed'));
    await panelAnswers(app, second.id);
    await expect(refund(second.id)).rejects.toEqual(refusal('This gift has been claimed'));
    expect((await moneyOf(app, buyer)).balance).toBe(70_000);
  });

  test('spec 03 H21: of a gift that could not be given', async () => {
    const [{ buyer, code, id }, friend] = [await aCode(app, tariffId), await aUser(app)];
    await app.db.sql("UPDATE tariffs SET period_prices = '{}' WHERE id = $1::int RETURNING id", [tariffId]);
    await expect(activate(app, { kind: 'user', userId: friend.id }, code)).rejects.toMatchObject({ status: 500 });
    await refund(id);
    expect((await moneyOf(app, buyer)).balance).toBe(100_000);
  });

  test('is refused for what is unknown, no gift, or without a buyer', async () => {
    await expect(refund(2_000_000_000)).rejects.toEqual(refusal('Purchase not found', 404));
    await expect(refund(9_999_999_999)).rejects.toEqual(refusal('Purchase not found', 404));
    const { id } = await aCode(app, tariffId);
    await app.db.sql('UPDATE guest_purchases SET buyer_user_id = NULL WHERE id = $1::int RETURNING id', [id]);
    await expect(refund(id)).rejects.toEqual(refusal('The account of the buyer no longer exists'));
    await app.db.sql('UPDATE guest_purchases SET is_gift = false WHERE id = $1::int RETURNING id', [id]);
    await expect(refund(id)).rejects.toEqual(refusal('This purchase is not a gift'));
    expect(await auditOf(id)).toEqual([]);
  });

  test('is in the audit log although the process ends right after the commit', async () => {
    const { id } = await aCode(app, tariffId);
    // The background writer of the audit log never gets to write.
    const audit = { record: async () => undefined, flush: async () => undefined };
    await refundGift({ ...app, ports: { ...app.ports, audit } }, operator, id, 'the buyer asked');
    expect(await auditOf(id)).toMatchObject([{ action: 'gifts:refund' }]);
  });

  test('is reported to the buyer', async () => {
    const friend = await aUser(app, { language: 'en' });
    const { id, buyer } = await aCode(app, tariffId);
    await refund(id);
    const [user] = await app.db.sql<{ messengerId: number }>('SELECT messenger_id FROM users WHERE id = $1::int', [buyer.userId]);
    const [message] = await messagesTo(app, user!.messengerId);
    expect(message).toContain(`Gift #${id} was cancelled`);
    expect(await messagesTo(app, friend.messengerId)).toEqual([]);
  });
});

describe('the notice', () => {
  test('is sent again, with the button while the gift waits, without it afterwards', async () => {
    const [buyer, friend] = [await aBuyer(app, 100_000), await aUser(app, { language: 'en' })];
    await aStoredSubscription(app, friend.id);
    const [{ username }] = (await app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [
      friend.id,
    ])) as [{ username: string }];
    const { id, code } = await giftOf(app, (await buy(app, buyer, anOrder(tariffId, toName(username)))).code);
    await expect(resendGift(app, operator, id)).rejects.toMatchObject({ status: 409 });
    await fulfilPurchase(app, { purchaseId: id });
    expect(await resendGift(app, operator, id)).toEqual({ type: 'messenger', value: `@${username}` });
    const waiting = await messagesTo(app, friend.messengerId);
    expect(waiting).toHaveLength(2);
    expect(waiting[1]).toBe(waiting[0]);
    await activate(app, { kind: 'user', userId: friend.id }, code);
    await panelAnswers(app, id);
    await resendGift(app, operator, id);
    expect(await messagesTo(app, friend.messengerId)).toHaveLength(4);
    expect(await auditOf(id)).toMatchObject([{ action: 'gifts:resend' }, { action: 'gifts:resend' }]);
  });

  test('goes by mail to an address', async () => {
    const [buyer, email] = [await aBuyer(app, 100_000), anEmail()];
    const { id } = await giftOf(app, (await buy(app, buyer, anOrder(tariffId, toEmail(email)))).code);
    await fulfilPurchase(app, { purchaseId: id });
    await panelAnswers(app, id);
    await resendGift(app, operator, id);
    expect((await mailsTo(app, email)).filter((template) => template === 'guest_gift_received')).toHaveLength(2);
    expect((await mailsTo(app, email)).filter((template) => template === 'guest_cabinet_credentials')).toHaveLength(1);
  });

  test('of a code does not exist', async () => {
    const { id } = await aCode(app, tariffId);
    await expect(resendGift(app, operator, id)).rejects.toMatchObject({ status: 409 });
    await expect(resendGift(app, operator, 2_000_000_000)).rejects.toMatchObject({ status: 404 });
  });
});
