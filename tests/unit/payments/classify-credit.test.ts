import { expect, test } from 'vitest';
import { classifyCredit } from '../../../src/domain/payments/classify-report.ts';
import type { PaymentReport } from '../../../src/domain/payments/ports.ts';
import type { Payment } from '../../../src/domain/payments/types.ts';

const credited = {
  id: 1,
  method: 'sandbox',
  orderId: 'order',
  externalId: 'invoice',
  merchantId: null,
  chargeId: 'charge',
  amountKopeks: 50_000,
  currency: 'RUB',
  outcome: 'paid',
  transactionId: 7,
} as Payment;
const report = (change: Partial<PaymentReport>) =>
  ({
    orderId: 'order',
    externalId: 'invoice',
    outcome: 'underpaid',
    amountKopeks: 30_000,
    currency: 'RUB',
    ...change,
  }) as PaymentReport;

test('too little that came for another invoice of a credited order is money of its own', () => {
  expect(classifyCredit(credited, report({ externalId: 'other' }), false)).toBe('second_payment');
});

test('too little that came for the credited invoice may be the first part of what completed it', () => {
  expect(classifyCredit(credited, report({}), false)).toBe('already_credited');
  expect(classifyCredit(credited, report({ chargeId: 'first part' }), false)).toBe('already_credited');
});

/** As an import stores it: of a guest, or one of two with the same movement. */
const paidBefore = { ...credited, chargeId: null, transactionId: null, isPaid: true } as Payment;

test('a payment of the existing product that was paid there is not credited, also without a movement', () => {
  const paid = report({ outcome: 'paid', amountKopeks: 50_000 });
  expect(classifyCredit(paidBefore, paid, false)).toBe('already_credited');
  expect(classifyCredit({ ...paidBefore, isPaid: false }, paid, false)).toBe('credit');
});

test('a payment that is known by the id of its charge only is the one of this charge', () => {
  const paid = report({ outcome: 'paid', externalId: 'order', chargeId: 'invoice' });
  expect(classifyCredit(paidBefore, paid, false)).toBe('already_credited');
  expect(classifyCredit(paidBefore, { ...paid, chargeId: 'another' }, false)).toBe('second_payment');
});
