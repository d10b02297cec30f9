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
