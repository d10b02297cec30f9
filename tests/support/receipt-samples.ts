import { randomBytes } from 'node:crypto';
import type { ReceiptSandbox, SandboxIncome } from '../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import type { App } from '../../src/core/app.ts';
import { runAfterReversal } from '../../src/domain/payments/reversals.ts';
import { workReceipts } from '../../src/domain/receipts/issue-receipts.ts';
import { queueReceipt } from '../../src/domain/receipts/receipt-queue.ts';
import { aUser, unique } from './builders.ts';
import { type TestApp, testApp } from './test-app.ts';
import { workerSandbox } from './test-sandbox.ts';

const ADMIN_CHAT = '-100777';

/** An app with receipts on, an empty queue and a fake tax service without faults. */
export async function receiptFixture(environment: Record<string, string> = {}): Promise<TestApp & { nalogo: ReceiptSandbox }> {
  const t = await testApp({
    environment: {
      NALOGO_ENABLED: 'true',
      NALOGO_QUEUE_RECEIPT_DELAY: '0',
      DEFAULT_LANGUAGE: 'en',
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: ADMIN_CHAT,
      ...environment,
    },
  });
  await t.app.db.sql('DELETE FROM receipts RETURNING id');
  await t.app.db.sql("DELETE FROM service_state WHERE key LIKE 'receipts:%' RETURNING key");
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send' OR name LIKE 'receipts.%' RETURNING id");
  const nalogo = (await workerSandbox()).servers.receipts;
  nalogo.faults.next.length = 0;
  nalogo.faults.isDown = false;
  nalogo.calls.length = 0;
  return { ...t, nalogo };
}

export interface Paid {
  paymentId: number;
  transactionId: number;
  userId: number;
}

/** A credited top-up; its receipt is not queued. */
export async function aCreditedTopup(app: App, options: { method?: string; kopeks?: number; paidAt?: Date } = {}): Promise<Paid> {
  const { method = 'yookassa', kopeks = 49_990, paidAt = app.clock.now() } = options;
  const user = await aUser(app);
  const [orderId, externalId] = [randomBytes(15).toString('hex'), `ext-${unique()}`];
  const [row] = await app.db.sql<{ id: number }>(
    `INSERT INTO payments (method, user_id, order_id, external_id, amount_kopeks, status, created_at, updated_at)
     VALUES ($1, $2::int, $3, $4, $5::bigint, 'pending', $6::timestamptz, $6::timestamptz) RETURNING id`,
    [method, user.id, orderId, externalId, kopeks, paidAt],
  );
  const [credit] = await app.db.sql<{ outcome: string; transactionId: number }>(
    `SELECT outcome, transaction_id FROM credit_topup($1::int, $2::int, $3, $4, $5::bigint, 'RUB', $4, 'succeeded', $6::timestamptz, '{}',
       '{"ru": "top-up"}', 'YooKassa', $7::timestamptz)`,
    [row!.id, user.id, orderId, externalId, kopeks, paidAt, app.clock.now()],
  );
  if (credit?.outcome !== 'credited') throw new Error(`the top-up was ${credit?.outcome}`);
  return { paymentId: row!.id, transactionId: credit.transactionId, userId: user.id };
}

/** A credited top-up whose receipt is queued. */
export async function aQueuedReceipt(app: App, options: Parameters<typeof aCreditedTopup>[1] = {}): Promise<Paid> {
  const paid = await aCreditedTopup(app, options);
  await queueReceipt(app, paid);
  return paid;
}

/** The provider reports that money was returned; the jobs of the reversal have run. @param kopeks null = all of it */
export async function reverse(app: App, { paymentId }: Paid, kopeks: number | null = null): Promise<void> {
  const reversalId = `refund-${unique()}`;
  await app.db.sql(
    `SELECT outcome FROM reverse_payment($1::int, $2, 'refund', $3::bigint, '{"ru": "returned"}', $4::timestamptz)`,
    [paymentId, reversalId, kopeks, app.clock.now()],
  );
  const [row] = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE reversal_id = $1', [reversalId]);
  await runAfterReversal(app, { reversalId: row!.id });
  await queueReceipt(app, { paymentId });
}

/** One round of the queue; the waits between receipts are only counted. @returns milliseconds of each wait */
export async function round(app: App): Promise<number[]> {
  const waits: number[] = [];
  await workReceipts(app, { signal: new AbortController().signal, wait: async (ms) => void waits.push(ms) });
  return waits;
}

export interface ReceiptFacts {
  state: string;
  mark: string;
  uuid: string | null;
  amountKopeks: number;
  lastError: string | null;
}

/** The receipts of a payment, first one first. */
export async function receiptsOf(app: App, { paymentId }: Paid): Promise<ReceiptFacts[]> {
  const rows = await app.db.sql<ReceiptFacts>(
    'SELECT state, mark, uuid, amount_kopeks, last_error FROM receipts WHERE payment_id = $1::int ORDER BY sequence',
    [paymentId],
  );
  return rows.map((row) => ({ ...row, amountKopeks: Number(row.amountKopeks) }));
}

export const statesOf = async (app: App, paid: Paid): Promise<string[]> =>
  (await receiptsOf(app, paid)).map(({ state }) => state);

/** What the tax service has of a payment, oldest first. */
export async function incomesOf(app: App, nalogo: ReceiptSandbox, paid: Paid): Promise<SandboxIncome[]> {
  const marks = (await receiptsOf(app, paid)).map(({ mark }) => `#${mark}`);
  return (await nalogo.list()).filter(({ name }) => marks.some((mark) => name.endsWith(mark))).reverse();
}

/** The receipt as the transaction shows it. */
export async function shownReceipt(app: App, { transactionId }: Paid): Promise<string | null> {
  const [row] = await app.db.sql<{ receiptUuid: string | null }>('SELECT receipt_uuid FROM transactions WHERE id = $1::int', [
    transactionId,
  ]);
  return row!.receiptUuid;
}

/** Notices to the administrators' chat, oldest first. */
export async function notices(app: App): Promise<string[]> {
  const rows = await app.db.sql<{ html: string }>(
    `SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1 ORDER BY created_on, ctid`,
    [ADMIN_CHAT],
  );
  return rows.map(({ html }) => html);
}
