import type { Person } from '../../packages/measures/src/drills/money/people.ts';
import type {
  MovementRow,
  PaymentRow,
  ReversalRow,
  ServiceFacts,
} from '../../packages/measures/src/drills/money/service-facts.ts';
import type { SandboxInvoice } from '../../packages/sandbox/src/payments/invoice.ts';

/** A service after a day of the drill of money that is in order, and the builders of its rows. */
const [SHOPPER, EARNER] = [1, 2];
export const [CLAIMER, RENEWER, DOUBLE] = [3, 4, 6];
export const KOPEKS = 50_000;
const SHORT_KOPEKS = 9_900;

const invoice = (fields: Partial<SandboxInvoice> & Pick<SandboxInvoice, 'orderId'>): SandboxInvoice => ({
  id: `id-${fields.orderId}`,
  number: 1_000,
  wire: 'yookassa',
  status: 'paid',
  amountKopeks: KOPEKS,
  currency: 'RUB',
  paidKopeks: KOPEKS,
  reversals: [],
  description: '',
  option: null,
  returnUrl: null,
  metadata: {},
  createdAt: '2026-11-22T10:00:00.000Z',
  paidAt: '2026-11-22T10:01:00.000Z',
  expiresAt: '2026-11-23T10:00:00.000Z',
  ...fields,
});
const payment = (fields: Partial<PaymentRow> & Pick<PaymentRow, 'id' | 'orderId'>): PaymentRow => ({
  method: 'yookassa',
  userId: SHOPPER,
  externalId: `id-${fields.orderId}`,
  chargeId: null,
  amountKopeks: KOPEKS,
  outcome: 'paid',
  purpose: 'balance_topup',
  transactionId: null,
  ...fields,
});
export const movement = (fields: Partial<MovementRow> & Pick<MovementRow, 'id'>): MovementRow => ({
  userId: SHOPPER,
  type: 'deposit',
  amountKopeks: KOPEKS,
  paymentMethod: 'yookassa',
  externalId: null,
  isInternal: false,
  createdAt: new Date('2026-11-22T10:02:00Z'),
  ...fields,
});
export const reversal = (fields: Partial<ReversalRow> & Pick<ReversalRow, 'id' | 'paymentId'>): ReversalRow => ({
  method: 'yookassa',
  kind: 'refund',
  reversalId: null,
  amountKopeks: 10_000,
  debitedKopeks: 10_000,
  status: 'done',
  requestedBy: null,
  transactionId: null,
  ...fields,
});
const RESERVED = { reserveTransactionId: 25, releaseTransactionId: null };
const person = (id: number): Person => ({ id, messengerId: 1_000 + id });

/** One of everything: a top-up that was partly given back, a gift, a purchase, a renewal by card, a payout, and an unpaid invoice. */
export function someFacts(): ServiceFacts {
  const refund = { id: 'r1', kind: 'refund' as const, amountKopeks: 10_000, at: '2026-11-22T11:00:00.000Z' };
  return {
    invoices: [
      invoice({ orderId: 'a', reversals: [refund] }),
      invoice({ orderId: 'b', status: 'pending', paidAt: null, paidKopeks: 0 }),
      invoice({
        orderId: 'c',
        amountKopeks: SHORT_KOPEKS,
        paidKopeks: SHORT_KOPEKS,
        metadata: { purpose: 'recurrent_topup', user_id: RENEWER },
      }),
      invoice({
        orderId: 'e',
        wire: 'wata',
        reversals: [{ ...refund, id: 'unnamed', amountKopeks: KOPEKS }],
      }),
    ],
    stars: [
      { link: 'l', title: 't', description: 'd', payload: 's', stars: 10, status: 'paid', chargeId: 'charge', payerId: 1_001 },
    ],
    incomes: [
      { uuid: 'u1', name: 'x #m1', totalAmount: '500.00', operationTime: '', cancellation: { comment: '', at: '' } },
      { uuid: 'u2', name: 'x #m1-2', totalAmount: '400.00', operationTime: '', cancellation: null },
      { uuid: 'u3', name: 'x #m3', totalAmount: '99.00', operationTime: '', cancellation: null },
    ],
    payments: [
      payment({ id: 1, orderId: 'a', transactionId: 11 }),
      payment({ id: 2, orderId: 'b', outcome: 'expired' }),
      payment({
        id: 3,
        orderId: 'c',
        userId: RENEWER,
        amountKopeks: SHORT_KOPEKS,
        purpose: 'recurrent_topup',
        transactionId: 12,
      }),
      payment({ id: 4, orderId: 's', method: 'messenger_stars', transactionId: 13 }),
      payment({ id: 5, orderId: 'd', userId: DOUBLE, method: 'wata', chargeId: 'first', transactionId: 24 }),
      payment({ id: 6, orderId: 'e', userId: DOUBLE, method: 'wata', chargeId: 'one', transactionId: 27 }),
    ],
    movements: [
      movement({ id: 11 }),
      movement({ id: 12, userId: RENEWER, amountKopeks: SHORT_KOPEKS }),
      movement({ id: 13, paymentMethod: 'messenger_stars' }),
      movement({ id: 14, type: 'refund', amountKopeks: -10_000 }),
      movement({ id: 15, type: 'gift_payment', amountKopeks: -19_900, paymentMethod: 'balance' }),
      movement({ id: 16, type: 'subscription_payment', amountKopeks: -19_900, paymentMethod: 'balance' }),
      ...[17, 18].map((id) =>
        movement({ id, userId: RENEWER, type: 'subscription_payment', amountKopeks: -SHORT_KOPEKS, paymentMethod: 'balance' }),
      ),
      ...[19, 20].map((id) =>
        movement({ id, userId: EARNER, type: 'referral_reward', amountKopeks: 12_500, paymentMethod: null }),
      ),
      movement({ id: 21, userId: EARNER, type: 'withdrawal', amountKopeks: -5_000, paymentMethod: null }),
      movement({ id: 22, userId: EARNER, type: 'withdrawal', amountKopeks: -5_000, paymentMethod: 'payout', isInternal: true }),
      movement({ id: 23, userId: RENEWER, amountKopeks: SHORT_KOPEKS }),
      movement({ id: 24, userId: DOUBLE, paymentMethod: 'wata' }),
      movement({ id: 25, userId: EARNER, type: 'withdrawal', amountKopeks: -5_000, paymentMethod: 'hold', isInternal: true }),
      movement({ id: 26, userId: EARNER, type: 'refund', amountKopeks: -2_500, paymentMethod: null }),
      movement({ id: 27, userId: DOUBLE, paymentMethod: 'wata' }),
      movement({ id: 28, userId: DOUBLE, type: 'refund', amountKopeks: -KOPEKS, paymentMethod: 'wata' }),
    ],
    reversals: [
      reversal({ id: 1, paymentId: 1, transactionId: 14 }),
      // Of one of two charges, and the credit was the only one that was known.
      reversal({
        id: 2,
        paymentId: 6,
        method: 'wata',
        reversalId: 'unnamed',
        transactionId: 28,
        amountKopeks: KOPEKS,
        debitedKopeks: KOPEKS,
      }),
    ],
    cases: [
      {
        id: 1,
        kind: 'overpaid',
        method: 'yookassa',
        reference: '3',
        chargeId: 'overpaid:3',
        paymentId: 3,
        amountKopeks: SHORT_KOPEKS,
        status: 'resolved',
        resolution: 'credit',
        transactionId: 23,
      },
      {
        id: 2,
        kind: 'second_payment',
        method: 'wata',
        reference: '5:second',
        chargeId: 'second',
        paymentId: 5,
        amountKopeks: KOPEKS,
        status: 'resolved',
        resolution: 'reversed',
        transactionId: null,
      },
      {
        id: 3,
        kind: 'reversal_unknown',
        method: 'wata',
        reference: 'foreign',
        chargeId: null,
        paymentId: 5,
        amountKopeks: KOPEKS,
        status: 'open',
        resolution: null,
        transactionId: null,
      },
    ],
    receipts: [
      { id: 1, paymentId: 1, mark: 'm1', state: 'cancelled', uuid: 'u1', amountKopeks: KOPEKS },
      { id: 2, paymentId: 1, mark: 'm1-2', state: 'created', uuid: 'u2', amountKopeks: 40_000 },
      { id: 3, paymentId: 3, mark: 'm3', state: 'created', uuid: 'u3', amountKopeks: SHORT_KOPEKS },
    ],
    gifts: [
      {
        id: 1,
        code: 'code',
        status: 'delivered',
        userId: CLAIMER,
        amountKopeks: 19_900,
        paymentMethod: 'balance',
        paymentId: null,
        transactionId: 15,
        refundTransactionId: null,
      },
    ],
    charges: [
      { id: 1, userId: RENEWER, status: 'paid', paidPayments: 1, isUnclear: false },
      // Its notification came after it had been given up.
      { id: 2, userId: RENEWER, status: 'not_due', paidPayments: 1, isUnclear: true },
    ],
    withdrawals: [
      {
        id: 1,
        userId: EARNER,
        amountKopeks: 5_000,
        status: 'completed',
        transactionId: 21,
        payoutTransactionId: 22,
        ...RESERVED,
      },
    ],
    earnings: [11, 13].map((referralTransactionId) => {
      const amountKopeks = referralTransactionId === 11 ? 10_000 : 12_500;
      return { userId: EARNER, referralTransactionId, amountKopeks };
    }),
    rewardReversals: [{ earningUserId: EARNER, amountKopeks: 2_500, transactionId: 26, debtTransactionId: null }],
    debtPayments: [],
    giftStarts: new Map([[CLAIMER, 1]]),
    referred: new Set([SHOPPER]),
    balances: new Map([
      [RENEWER, 0],
      [DOUBLE, KOPEKS],
    ]),
    payableKopeks: 0,
    people: {
      shoppers: [person(SHOPPER)],
      earners: [person(EARNER)],
      claimers: [person(CLAIMER)],
      renewers: [person(RENEWER)],
      doublePayers: [person(DOUBLE)],
      admins: [],
      all: [SHOPPER, EARNER, CLAIMER, RENEWER, DOUBLE],
    },
    tariffs: { monthId: 1, monthKopeks: 19_900, shortId: 2, shortKopeks: SHORT_KOPEKS },
    deeds: {
      actions: new Map(),
      reversals: [{ invoiceId: 'id-a', action: 'refund' }],
      paidTwice: [
        {
          method: 'wata',
          userId: DOUBLE,
          orderId: 'd',
          amountKopeks: KOPEKS,
          foreignRefunds: ['foreign'],
          charges: [
            { id: 'first', isReturned: false },
            { id: 'second', isReturned: true },
          ],
          hasUnnamedRefund: false,
        },
        {
          method: 'wata',
          userId: DOUBLE,
          orderId: 'e',
          amountKopeks: KOPEKS,
          foreignRefunds: [],
          charges: [
            { id: 'one', isReturned: true },
            { id: 'other', isReturned: false },
          ],
          hasUnnamedRefund: true,
        },
      ],
      purchases: new Map([[SHOPPER, { acknowledged: 1, unknown: 0 }]]),
      gifts: [{ code: 'code', buyerId: SHOPPER, claimedBy: new Set([CLAIMER]), isRefunded: false }],
      decisions: ['approve 1', 'complete 1'],
      commands: new Map(),
    },
  };
}
