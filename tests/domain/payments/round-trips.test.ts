import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { creditSeenPayment } from '../../../src/domain/payments/credit-payment.ts';
import { receiveStarsUpdate } from '../../../src/domain/payments/credit-stars.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { findPayment } from '../../../src/domain/payments/repo.ts';
import { insertStarsInvoice } from '../../../src/domain/payments/stars-repo.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import type { Payment } from '../../../src/domain/payments/types.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import {
  callback,
  callbackJobs,
  callbackResults,
  casesOf,
  creditedOnce,
  moneyFacts,
  paymentFacts,
} from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type RecordingApp, recordingApp } from '../../support/sent-statements.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let provider: ScriptedProvider;
let recording: RecordingApp;
beforeEach(async () => {
  provider = new ScriptedProvider();
  app = await withProvider((await testApp()).app, provider);
  recording = recordingApp(app);
});

async function anInvoice(): Promise<{ user: BuiltUser; payment: Payment; externalId: string }> {
  const user = await aUser(app);
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks: 50_000, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  const payment = (await findPayment(app.db, paymentId))!;
  provider.set(payment.externalId!, 'paid');
  return { user, payment, externalId: payment.externalId! };
}

const contains = (text: string) => expect.stringContaining(text);

describe('a callback', () => {
  test('is stored with its job in one statement, and so is a copy of it', async () => {
    const { externalId } = await anInvoice();
    for (let copy = 0; copy < 2; copy++) await callback(recording.app, externalId, { eventId: `same-${externalId}` });
    expect(recording.sent).toEqual([contains('send_job'), contains('send_job')]);
    expect(await callbackJobs(app, externalId)).toHaveLength(1);
  });

  test('credits in three statements: begun with its payment, credited, finished', async () => {
    const { user, externalId } = await anInvoice();
    await callback(app, externalId);
    const [callbackId] = await callbackJobs(app, externalId);
    await processCallback(recording.app, { callbackId: callbackId! });
    expect(recording.sent).toEqual([contains('attempts + 1'), contains('credit_topup'), contains('processed_at')]);
    expect(recording.announced()).toBe(1);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
    expect(await callbackResults(app, externalId)).toEqual(['credited']);
  });

  test('about Stars credits in five: the invoice with its price and the payer are read, too', async () => {
    const user = await aUser(app);
    const chargeId = `charge-${unique()}`;
    const [payload, stars] = [`stars-${unique()}`, 77];
    const draft = { userId: user.id, payload, stars, amountKopeks: 10_000, purpose: 'balance_topup', description: 'Top-up' };
    await insertStarsInvoice(app.db, { ...draft, now: app.clock.now() });
    const paid = { updateId: unique(), payerMessengerId: user.messengerId, payload, stars, chargeId };
    await receiveStarsUpdate(app, { ...paid, kind: 'stars_paid' }, '{}');
    const [callbackId] = await callbackJobs(app, chargeId);
    await processCallback(recording.app, { callbackId: callbackId! });
    expect(recording.sent).toEqual([
      ...[
        contains('attempts + 1'),
        contains("'stars'"),
        contains('messenger_id'),
        contains('credit_topup'),
        contains('processed_at'),
      ],
    ]);
    expect(recording.announced()).toBe(1);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(10_000));
  });

  test('about Stars of an invoice of earlier software credits in four', async () => {
    const user = await aUser(app);
    const chargeId = `charge-${unique()}`;
    const stars = { updateId: unique(), payerMessengerId: user.messengerId, payload: 'balance_topup_1_1_1', stars: 77 };
    await receiveStarsUpdate(app, { ...stars, kind: 'stars_paid', chargeId }, '{}');
    const [callbackId] = await callbackJobs(app, chargeId);
    await processCallback(recording.app, { callbackId: callbackId! });
    expect(recording.sent).toEqual([
      ...[contains('attempts + 1'), contains('messenger_id'), contains('credit_uninvoiced'), contains('processed_at')],
    ]);
    expect(recording.announced()).toBe(1);
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(10_010));
  });
});

describe('a payment that has changed since it was read', () => {
  const credit = async (payment: Payment) =>
    creditSeenPayment(recording.app, payment, await provider.fetchStatus({ externalId: payment.externalId!, orderId: null }));
  const set = (payment: Payment, change: string) =>
    app.db.sql(`UPDATE payments SET ${change} WHERE id = $1::int RETURNING id`, [payment.id]);

  test('and was credited meanwhile is not credited again', async () => {
    const { user, payment } = await anInvoice();
    expect(await credit(payment)).toBe('credited');
    expect(await credit(payment)).toBe('already_credited');
    expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
  });

  test('is classified again by what it has become', async () => {
    const { user, payment } = await anInvoice();
    await set(payment, 'amount_kopeks = 50001');
    expect(await credit(payment)).toBe('amount_mismatch');
    expect(await paymentFacts(app, payment.id)).toMatchObject({ outcome: 'amount_mismatch', transactionId: null });
    const other = await anInvoice();
    await set(other.payment, `external_id = 'other-${unique()}'`);
    expect(await credit(other.payment)).toBe('order_mismatch');
    for (const { id } of [user, other.user]) expect(await moneyFacts(app, id)).toMatchObject({ balance: 0, deposits: 0 });
  });

  test('and belongs to another user now is credited to that user', async () => {
    const [{ user, payment }, heir] = [await anInvoice(), await aUser(app)];
    await set(payment, `user_id = ${heir.id}`);
    expect(await credit(payment)).toBe('credited');
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
    expect(await moneyFacts(app, heir.id)).toEqual(creditedOnce(50_000));
  });

  test('spec 03 H5: and has no payer any more is a case, unpaid, and credits nobody', async () => {
    const { user, payment } = await anInvoice();
    await set(payment, 'user_id = NULL');
    const alarms: unknown[] = [];
    const log = { ...app.log, error: (facts: { alarm?: string }) => void alarms.push(facts.alarm) } as unknown as App['log'];
    const state = await provider.fetchStatus({ externalId: payment.externalId!, orderId: null });
    const record = await app.db.prisma.payment.findUnique({ where: { id: payment.id } });
    expect(await creditSeenPayment({ ...app, log }, payment, state)).toBe('no_user');
    expect(alarms).toEqual(['payment_no_user']);
    expect(record).toMatchObject({ outcome: 'pending', isPaid: false, paidAt: null, transactionId: null });
    expect(await app.db.prisma.payment.findUnique({ where: { id: payment.id } })).toEqual(record);
    expect(await casesOf(app, payment.id)).toEqual([{ kind: 'no_user', amountKopeks: 50_000, status: 'open' }]);
    expect(await moneyFacts(app, user.id)).toMatchObject({ balance: 0, deposits: 0 });
  });

  test('and never stays the same is an error after a few tries, not an endless loop', async () => {
    const { payment } = await anInvoice();
    const state = await provider.fetchStatus({ externalId: payment.externalId!, orderId: null });
    const restless: App = {
      ...app,
      db: {
        ...app.db,
        sql: async <Row extends object>(text: string, values?: readonly unknown[]) => {
          if (text.includes('credit_topup')) return [{ outcome: 'changed', transactionId: null }] as unknown as Row[];
          return app.db.sql<Row>(text, values);
        },
      },
    };
    await expect(creditSeenPayment(restless, payment, state)).rejects.toThrow('keeps changing');
  });
});
