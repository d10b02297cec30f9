import { afterEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import type { MessengerUpdate } from '../../../../src/domain/messaging/ports.ts';
import { receiveStarsUpdate } from '../../../../src/domain/payments/credit-stars.ts';
import { processCallback } from '../../../../src/domain/payments/process-callback.ts';
import { findPayment } from '../../../../src/domain/payments/repo.ts';
import { createStarsInvoice } from '../../../../src/domain/payments/stars-invoices.ts';
import { aUser, unique } from '../../../support/builders.ts';
import { sampleOf } from '../../../support/matrix-sample.ts';
import { moneyFacts } from '../../../support/payment-samples.ts';
import { PROVIDER_CASES } from '../../../support/providers/all-cases.ts';
import {
  FACT_KOPEKS,
  FACT_MONEY,
  FACT_WIRES,
  type Fact,
  type FactEvent,
  type FactMoney,
  type FactWire,
  PART_KOPEKS,
} from '../../../support/providers/fact-wires.ts';
import { notApplicable } from '../../../support/providers/provider-case.ts';
import { aProviderFixture, type ProviderFixture } from '../../../support/providers/provider-fixture.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';

/**
 * Spec 10 M1 and M2: what every provider may report, of whose money, in every order, with the balance, the state of the payment and the open
 * cases that follow. The payment of the table is credited with its own charge in each row, so that a fact about other money that is taken for it
 * shows in the balance.
 */
const HAPPENS: Readonly<Record<string, readonly FactEvent[]>> = {
  credit: ['paid'],
  reversal: ['paid', 'refund'],
  'partial reversal': ['paid', 'partial'],
  chargeback: ['paid', 'chargeback'],
  'the same again': ['paid', 'refund'],
  'reversal before the credit': ['refund', 'paid'],
  'reversal of the credited one': ['paid', 'refund'],
};
/** Of the payment of the table, with the other money beside it. */
const OF_CREDITED = 'reversal of the credited one';

type WireLimits = Pick<FactWire, 'ignoresUnknown' | 'hidesUnknownReversal' | 'hintsAtInvoice'>;

interface Outcome {
  balance: number;
  outcome: string;
  open: string[];
}

function expected(whose: FactMoney, row: string, wire: WireLimits): Outcome {
  const [isCredit, isPart] = [row === 'credit', row === 'partial reversal'];
  if (whose === 'sameCharge') {
    const [balance, outcome] = isCredit ? [FACT_KOPEKS, 'paid'] : isPart ? [FACT_KOPEKS - PART_KOPEKS, 'paid'] : [0, 'refunded'];
    return { balance, outcome, open: [] };
  }
  if (row === OF_CREDITED) return { ...expected(whose, 'credit', wire), balance: 0, outcome: 'refunded' };
  const untouched = (...open: string[]): Outcome => ({ balance: FACT_KOPEKS, outcome: 'paid', open: open.toSorted() });
  // What was reversed in part still waits for a decision about the rest.
  const waits = isCredit || isPart;
  if (whose === 'otherMerchant') return isCredit ? untouched('other_merchant') : untouched('other_merchant', 'reversal_unknown');
  if (whose === 'unknown' && wire.ignoresUnknown)
    return isCredit || !wire.hintsAtInvoice ? untouched() : untouched('reversal_unknown');
  if (whose === 'unknown') return waits || wire.hidesUnknownReversal ? untouched('unknown_payment') : untouched();
  if (wire.hintsAtInvoice) return isCredit ? untouched('order_mismatch') : untouched('order_mismatch', 'reversal_unknown');
  return waits ? untouched('second_payment') : untouched();
}

/** What reports of one provider are made with, whatever its wire is. */
interface Table {
  t: TestApp;
  method: string;
  userId: number;
  mine: Fact;
  report: (history: readonly Fact[]) => Promise<void>;
  close: () => Promise<void>;
}

let table: Table | null = null;
afterEach(async () => {
  await table?.close();
  table = null;
});

async function runCell(made: Table, whose: FactMoney, row: string, wire: WireLimits): Promise<void> {
  table = made;
  const { t, method, mine } = made;
  const { app } = t;
  // Rows of other cells are not of this one.
  const [before] = await app.db.sql<{ caseId: number; callbackId: number }>(
    `SELECT (SELECT coalesce(max(id), 0)::int FROM payment_cases) AS case_id,
       (SELECT coalesce(max(id), 0)::int FROM provider_callbacks) AS callback_id`,
  );
  const about = moneyOf(whose, mine);
  const events = HAPPENS[row]!.map((event) =>
    row === OF_CREDITED && event === 'refund' ? { ...mine, event } : { ...about, event },
  );
  const [first, ...rest] = events;
  const paid: Fact = { ...mine, event: 'paid' };
  const history = whose === 'sameCharge' ? events : first!.event === 'paid' ? [paid, ...events] : [first!, paid, ...rest];
  for (let count = 1; count <= history.length; count++) await made.report(history.slice(0, count));
  if (row === 'the same again') await processStored(made, before!.callbackId);

  const cases = await app.db.sql<{ kind: string; status: string; resolution: string | null }>(
    'SELECT kind, status, resolution FROM payment_cases WHERE method = $1 AND id > $2::int ORDER BY kind',
    [method, before!.caseId],
  );
  const { balance, deposits } = await moneyFacts(app, made.userId);
  const [payment] = await app.db.sql<{ outcome: string }>(
    'SELECT outcome FROM payments WHERE user_id = $1::int AND method = $2 ORDER BY id LIMIT 1',
    [made.userId, method],
  );
  const open = cases.filter(({ status }) => status === 'open').map(({ kind }) => kind);
  expect({ balance, outcome: payment!.outcome, open }).toEqual(expected(whose, row, wire));
  expect(deposits).toBe(whose === 'sameCharge' && row === 'reversal before the credit' ? 0 : 1);
  // Nothing but the report itself ends a case here, and what has ended cannot be credited any more (spec 10 M8).
  expect(cases.filter(({ status }) => status !== 'open').every(({ resolution }) => resolution === 'reversed')).toBe(true);
  expect(await checkLedger(app)).toEqual([]);
}

function moneyOf(whose: FactMoney, mine: Fact): Fact {
  const [charge, invoice] = [`82${unique()}`, `83${unique()}`];
  switch (whose) {
    case 'sameCharge':
      return mine;
    case 'otherCharge':
      return { ...mine, charge };
    case 'otherInvoice':
      return { ...mine, charge, invoice };
    case 'otherMerchant':
      return { ...mine, charge, merchant: '987654321' };
    case 'unknown':
      return { ...mine, charge, invoice, orderId: `0${unique()}`.padEnd(30, 'f') };
  }
}

/** Processes what was stored since once more, in the order of arrival. */
async function processStored({ t, method }: Table, sinceId: number): Promise<void> {
  const stored = await t.app.db.sql<{ id: number }>(
    'UPDATE provider_callbacks SET processed_at = NULL WHERE provider = $1 AND id > $2::int RETURNING id',
    [method, sinceId],
  );
  for (const { id } of stored.toSorted((left, right) => left.id - right.id)) await processCallback(t.app, { callbackId: id });
}

const CELLS = FACT_MONEY.flatMap((whose) => Object.keys(HAPPENS).map((row) => [whose, row] as const));
const cellsOf = (method: string) => sampleOf(CELLS, ([whose, row]) => `${method} ${whose} ${row}`);

describe.each(PROVIDER_CASES.map((provider) => [provider.method, provider] as const))('%s', (method, provider) => {
  const wire = FACT_WIRES[method]!;

  test.each(cellsOf(method))('spec 10 M1: %s, %s', async (whose, row) => {
    const reason = wire.cannot[whose] ?? HAPPENS[row]!.map((event) => wire.cannot[event]).find((known) => known !== undefined);
    if (reason !== undefined) return notApplicable(reason);
    const fixture = await aProviderFixture(provider);
    await runCell(await tableOf(fixture, wire), whose, row, wire);
  });
});

async function tableOf(fixture: ProviderFixture, wire: FactWire): Promise<Table> {
  const { app, current, method } = fixture;
  const { user, orderId, paymentId } = current;
  const payment = paymentId === 0 ? null : await findPayment(app.db, paymentId);
  const ours = { invoice: payment?.externalId ?? '', merchant: payment?.merchantId ?? null };
  const mine: Fact = { event: 'paid', orderId, invoice: ours.invoice, charge: `81${unique()}`, merchant: null };
  const report = async (history: readonly Fact[]) => {
    expect((await fixture.deliver(wire.report(fixture, history, ours))).status).toBe(200);
  };
  return { t: fixture.t, method, userId: user.id, mine, report, close: fixture.close };
}

describe('messenger_stars', () => {
  const CANNOT: Partial<Record<FactMoney | FactEvent, string>> = {
    otherInvoice: 'the payload is the invoice: the messenger names no other id of it',
    otherMerchant: 'updates come by the token of the one bot',
    partial: 'a payment in Stars is given back as a whole',
    chargeback: 'the messenger reports no chargebacks',
  };

  test.each(cellsOf('messenger_stars'))('spec 10 M1: %s, %s', async (whose, row) => {
    const reason = CANNOT[whose] ?? HAPPENS[row]!.map((event) => CANNOT[event]).find((known) => known !== undefined);
    if (reason !== undefined) return notApplicable(reason);
    const t = await testApp();
    const user = await aUser(t.app);
    const { payload, stars } = await createStarsInvoice(t.app, { kind: 'user', userId: user.id }, FACT_KOPEKS, null);
    const mine: Fact = { event: 'paid', orderId: payload, invoice: payload, charge: `charge-${unique()}`, merchant: null };
    const report = async (history: readonly Fact[]) => {
      const { event, charge: chargeId, orderId } = history.at(-1)!;
      const money = { updateId: unique(), chargeId, payerMessengerId: user.messengerId!, payload: orderId, stars };
      const update: MessengerUpdate = { ...money, kind: event === 'paid' ? 'stars_paid' : 'stars_refunded' };
      await receiveStarsUpdate(t.app, update, '{}');
      const [stored] = await t.app.db.sql<{ id: number }>('SELECT max(id) AS id FROM provider_callbacks');
      await processCallback(t.app, { callbackId: stored!.id });
    };
    const made: Table = { t, method: 'messenger_stars', userId: user.id, mine, report, close: async () => undefined };
    await runCell(made, whose, row, {});
  });
});
