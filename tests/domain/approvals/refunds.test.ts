/** Refunds above an amount wait for an administrator (spec 01 section 4.8). */
import { beforeEach, expect, test } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { approve, refuseByCommand } from '../../../src/domain/approvals/decide.ts';
import { refundPayment } from '../../../src/domain/approvals/request-approval.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { sendRefund } from '../../../src/domain/payments/refunds.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { giveRole } from '../../support/actors.ts';
import { aUser } from '../../support/builders.ts';
import { messagesTo } from '../../support/gift-samples.ts';
import { callback, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { RefundingProvider } from '../../support/refunding-provider.ts';
import { withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

const OPERATOR = { kind: 'system', name: 'command line' } as const;
const CHAT = -1_001_234_567;

let app: App;
let provider: RefundingProvider;
let admin: AdminActor;
beforeEach(async () => {
  const environment = {
    APPROVAL_REFUND_KOPEKS: '30000',
    ADMIN_NOTIFICATIONS_ENABLED: 'true',
    ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
  };
  provider = new RefundingProvider();
  app = await withProvider((await testApp({ environment })).app, provider);
  const { id: userId } = await aUser(app);
  await giveRole(app, userId, ['payments:edit']);
  admin = { kind: 'admin', userId, level: 100, isConfigAdmin: false };
});

async function aPayment() {
  const { id: userId } = await aUser(app);
  const request = { amountKopeks: 50_000, method: 'sandbox', option: null };
  const { paymentId } = await topupBalance(app, { kind: 'user', userId }, request, { idempotencyKey: null });
  const externalId = (await paymentFacts(app, paymentId)).externalId!;
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  return { userId, paymentId };
}

const refund = (paymentId: number, amountKopeks: number | null = null) =>
  refundPayment(app, OPERATOR, { paymentId, amountKopeks, reason: 'asked for it', requestedBy: OPERATOR.name });

async function aWaiting(paymentId: number): Promise<number> {
  const made = await refund(paymentId);
  if (!('approval' in made)) throw new Error('the refund did not wait');
  return made.approval.id;
}

const balanceOf = async (userId: number) => (await moneyFacts(app, userId)).balance;
const waitingRefunds = () => app.db.sql<{ id: number }>("SELECT id FROM payment_reversals WHERE status = 'requested'");

test('above the amount it holds the money, and asks the provider once an administrator has approved it', async () => {
  const { userId, paymentId } = await aPayment();
  const id = await aWaiting(paymentId);
  expect([await balanceOf(userId), await waitingRefunds()]).toEqual([0, []]);
  expect((await messagesTo(app, CHAT)).at(-1)).toContain(`№${id}`);
  await expect(refund(paymentId)).rejects.toMatchObject({ status: 409, code: 'approval_waiting' });
  expect(await approve(app, admin, id)).toMatchObject({ status: 'approved', decidedBy: admin.userId, reservedKopeks: 0 });
  const [requested] = await waitingRefunds();
  await sendRefund(app, { reversalId: requested!.id });
  expect(provider.refunds).toMatchObject([{ amountKopeks: 50_000 }]);
  expect([await balanceOf(userId), (await paymentFacts(app, paymentId)).outcome]).toEqual([0, 'refunded']);
  expect(await checkLedger(app)).toEqual([]);
});

test('refused by a command it gives the money back, with a row in the audit log, and can be asked for again', async () => {
  const { userId, paymentId } = await aPayment();
  const id = await aWaiting(paymentId);
  expect(await refuseByCommand(app, OPERATOR.name, id, 'Paid in cash')).toMatchObject({
    status: 'refused',
    reason: 'Paid in cash',
  });
  expect([await balanceOf(userId), await waitingRefunds()]).toEqual([50_000, []]);
  expect(await app.db.sql('SELECT actor_name FROM admin_audit_log WHERE resource_id = $1', [`approval ${id}`])).toEqual([
    { actorName: OPERATOR.name },
  ]);
  expect(await aWaiting(paymentId)).toBeGreaterThan(id);
  expect(await checkLedger(app)).toEqual([]);
});

test('parts below the amount are refunded at once until they exceed it together', async () => {
  const { userId, paymentId } = await aPayment();
  const first = await refund(paymentId, 20_000);
  expect(first).toMatchObject({ debitedKopeks: 20_000 });
  await sendRefund(app, { reversalId: (await waitingRefunds())[0]!.id });
  const rest = await refund(paymentId);
  expect(rest).toMatchObject({ approval: { id: expect.any(Number) } });
  expect(await balanceOf(userId)).toBe(0);
});

test('what cannot be refunded is refused at once, and nothing waits', async () => {
  const { userId, paymentId } = await aPayment();
  await expect(refund(paymentId, 50_001)).rejects.toMatchObject({ code: 'refund_too_large' });
  expect(await balanceOf(userId)).toBe(50_000);
});

test('it goes on waiting when the refund itself is refused', async () => {
  const { userId, paymentId } = await aPayment();
  const id = await aWaiting(paymentId);
  await app.db.sql("UPDATE payments SET method = 'no-such-provider' WHERE id = $1::int RETURNING id", [paymentId]);
  await expect(approve(app, admin, id)).rejects.toMatchObject({ status: 409, code: 'approval_impossible' });
  expect(await app.db.sql('SELECT status FROM approvals WHERE id = $1::int', [id])).toEqual([{ status: 'waiting' }]);
  expect(await balanceOf(userId)).toBe(0);
  expect(await checkLedger(app)).toEqual([]);
});
