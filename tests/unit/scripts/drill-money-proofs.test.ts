import { describe, expect, it } from 'vitest';
import {
  type ProofResult,
  proveCredits,
  proveReversals,
  proveStars,
} from '../../../packages/measures/src/drills/money/credit-proof.ts';
import { proveReceipts } from '../../../packages/measures/src/drills/money/receipt-proof.ts';
import {
  proveCauses,
  proveGifts,
  provePurchases,
  proveRenewals,
  proveRewards,
  proveWithdrawals,
} from '../../../packages/measures/src/drills/money/sale-proof.ts';
import { proveSecondCharges } from '../../../packages/measures/src/drills/money/second-charges.ts';
import type { ServiceFacts } from '../../../packages/measures/src/drills/money/service-facts.ts';
import { CLAIMER, DOUBLE, KOPEKS, movement, RENEWER, reversal, someFacts } from '../../support/drill-facts.ts';

/** The proofs of the drill of money: each accepts what is in order, and finds what is not. */
type Proof = (facts: ServiceFacts) => ProofResult;
const PROOFS: readonly Proof[] = [
  ...[proveCredits, proveStars, proveReversals, proveReceipts, proveGifts, provePurchases],
  ...[proveSecondCharges, proveRenewals, proveWithdrawals, proveRewards, proveCauses],
];

it.each(PROOFS.map((prove) => [prove.name, prove] as const))('%s accepts what is in order', (_name, prove) => {
  expect(prove(someFacts()).violations).toEqual([]);
});

/** Changes one of the facts that are in order. */
const FAULTS: readonly (readonly [
  name: string,
  prove: Proof,
  change: (facts: ServiceFacts) => Partial<ServiceFacts>,
  found: RegExp,
])[] = [
  [
    'a paid invoice that was not credited',
    proveCredits,
    ({ payments }) => ({ payments: payments.map((row) => (row.id === 1 ? { ...row, transactionId: null } : row)) }),
    /was not credited/,
  ],
  [
    'a paid invoice without a record',
    proveCredits,
    ({ payments }) => ({ payments: payments.filter(({ id }) => id !== 1) }),
    /no record/,
  ],
  [
    'a credit of another amount',
    proveCredits,
    ({ movements }) => ({ movements: movements.map((row) => (row.id === 11 ? { ...row, amountKopeks: KOPEKS + 1 } : row)) }),
    /is of 50001 kopeks/,
  ],
  [
    'a credit without money',
    proveCredits,
    ({ payments }) => ({ payments: payments.map((row) => (row.id === 2 ? { ...row, transactionId: 13 } : row)) }),
    /never paid/,
  ],
  [
    'a second credit, which no record names',
    proveCauses,
    ({ movements }) => ({ movements: [...movements, movement({ id: 99 })] }),
    /transaction 99 .* has no record/,
  ],
  [
    'Stars that were not credited',
    proveStars,
    ({ payments }) => ({ payments: payments.filter(({ id }) => id !== 4) }),
    /is paid, payment undefined/,
  ],
  ['a reversal that was not applied', proveReversals, () => ({ reversals: [] }), /10000 kopeks went back/],
  [
    'a refund that the provider carried out twice',
    proveReversals,
    ({ invoices }) => ({
      invoices: invoices.map((row) => (row.orderId === 'a' ? { ...row, reversals: [...row.reversals, ...row.reversals] } : row)),
    }),
    /2 times: 1 by itself, 0 requested/,
  ],
  [
    'a refused refund whose debit did not go back',
    proveReversals,
    ({ reversals }) => ({
      reversals: [...reversals, reversal({ id: 2, paymentId: 1, status: 'failed', requestedBy: 'x', transactionId: 14 })],
    }),
    /10000 kopeks were taken, the movements 20000 less 0 returned/,
  ],
  [
    'two receipts with one mark',
    proveReceipts,
    ({ incomes }) => ({ incomes: [...incomes, ...incomes.slice(2)] }),
    /2 receipts with the mark m3/,
  ],
  [
    'a receipt that was not corrected',
    proveReceipts,
    ({ incomes }) => ({ incomes: incomes.map((row) => (row.uuid === 'u1' ? { ...row, cancellation: null } : row)) }),
    /receipts say \[50000, 40000\]/,
  ],
  [
    'a missing receipt',
    proveReceipts,
    ({ incomes }) => ({ incomes: incomes.filter(({ uuid }) => uuid !== 'u3') }),
    /receipts say \[\]/,
  ],
  [
    'a gift that two users claimed',
    proveGifts,
    ({ deeds }) => ({ deeds: { ...deeds, gifts: [{ ...deeds.gifts[0]!, claimedBy: new Set([CLAIMER, RENEWER]) }] } }),
    /claimed by users 3 and 4/,
  ],
  [
    'a gift that started two subscriptions',
    proveGifts,
    () => ({ giftStarts: new Map([[CLAIMER, 2]]) }),
    /started 2 subscriptions/,
  ],
  [
    'a gift that was refunded and claimed',
    proveGifts,
    ({ gifts }) => ({ gifts: [{ ...gifts[0]!, refundTransactionId: 14 }] }),
    /refunded and claimed/,
  ],
  [
    'a purchase that was paid twice',
    provePurchases,
    ({ movements }) => ({ movements: [...movements, { ...movements.find(({ id }) => id === 16)!, id: 99 }] }),
    /1 purchases acknowledged, 0 without an answer, 2 paid/,
  ],
  [
    'a card that was charged twice for one renewal',
    proveRenewals,
    ({ invoices }) => ({ invoices: [...invoices, { ...invoices[2]!, orderId: 'd' }] }),
    /charged 2 times for 1 renewals/,
  ],
  [
    'a charge of the card with two paid payments',
    proveRenewals,
    ({ charges }) => ({ charges: [{ ...charges[0]!, paidPayments: 2 }] }),
    /2 paid payments/,
  ],
  [
    'a charge of the card that was paid and is not known as paid',
    proveRenewals,
    ({ charges }) => ({ charges: charges.map((row) => ({ ...row, isUnclear: false })) }),
    /charge 2 is not_due with 1 paid payments/,
  ],
  [
    'a charge of an invoice paid twice that is neither credited nor a case',
    proveSecondCharges,
    ({ payments }) => ({ payments: payments.map((row) => (row.id === 5 ? { ...row, chargeId: 'second' } : row)) }),
    /charge first is nowhere/,
  ],
  [
    'a reversal of the one charge that was taken from the other',
    proveSecondCharges,
    ({ balances }) => ({ balances: new Map([...balances, [DOUBLE, 0]]) }),
    /user 6 has 0 kopeks, and 50000 were paid and not given back/,
  ],
  [
    'a charge that was given back and waits for a decision',
    proveSecondCharges,
    ({ cases }) => ({ cases: cases.map((row) => (row.id === 2 ? { ...row, status: 'open', resolution: null } : row)) }),
    /charge second was given back and waits/,
  ],
  [
    'a refund without a charge that was applied twice',
    proveSecondCharges,
    ({ reversals }) => ({ reversals: [...reversals, { ...reversals[1]!, id: 3 }] }),
    /the refund unnamed was applied 2 times, and is 0 cases/,
  ],
  [
    'an earning that was taken back without its row',
    proveRewards,
    () => ({ rewardReversals: [] }),
    /earned 22500 kopeks besides 0 taken back, and was paid 25000/,
  ],
  [
    'a top-up without an earning',
    proveRewards,
    ({ earnings }) => ({ earnings: earnings.slice(1) }),
    /top-up 11 .* earned 0 times/,
  ],
  [
    'a cancelled withdrawal whose hold did not go back',
    proveWithdrawals,
    ({ withdrawals }) => ({ withdrawals: withdrawals.map((row) => ({ ...row, status: 'cancelled' })) }),
    /of its hold/,
  ],
  [
    'a refund of another merchant that was applied',
    proveSecondCharges,
    ({ reversals }) => ({
      reversals: [...reversals, reversal({ id: 2, paymentId: 5, method: 'wata', reversalId: 'foreign' })],
    }),
    /the refund foreign of another merchant was applied/,
  ],
  [
    'a payout of another amount',
    proveWithdrawals,
    ({ movements }) => ({ movements: movements.map((row) => (row.id === 22 ? { ...row, amountKopeks: -10_000 } : row)) }),
    /payout 22 of -10000/,
  ],
  ['a sum of approved requests that differs', proveWithdrawals, () => ({ payableKopeks: 5_000 }), /withdrawal_payable has 5000/],
  [
    'a rejection that was acknowledged for a payout',
    proveWithdrawals,
    ({ deeds }) => ({ deeds: { ...deeds, decisions: ['reject 1'] } }),
    /"reject" was acknowledged/,
  ],
  [
    'a top-up that earned twice',
    proveRewards,
    ({ earnings }) => ({ earnings: [...earnings, earnings[0]!] }),
    /top-up 11 .* earned 2 times/,
  ],
  [
    'a reward that was not paid',
    proveRewards,
    ({ movements }) => ({ movements: movements.filter(({ id }) => id !== 20) }),
    /was paid 12500/,
  ],
];

describe('the proofs of the drill of money find', () => {
  it.each(FAULTS)('%s', (_name, prove, change, found) => {
    const facts = someFacts();
    expect(prove({ ...facts, ...change(facts) }).violations.join('\n')).toMatch(found);
  });
});
