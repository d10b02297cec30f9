import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';
import {
  AMOUNT_AND_BALANCE_EXAMPLE,
  AMOUNT_EXAMPLE,
  AmountAndBalanceFields,
  AmountFields,
  UserIdField,
} from '../../core/events/event-fields.ts';

const Transaction = z.object({
  transaction_id: z.int().describe('Id of the transaction.'),
  user_id: UserIdField,
  type: z.string().describe('Type of the transaction, such as `deposit` or `subscription_payment`.'),
  amount_kopeks: z.int().describe('Amount in kopeks, never negative.'),
  amount_rubles: z.number().describe('The same in rubles.'),
  payment_method: z.string().nullable().describe('Code of the payment method, such as `yookassa`; null without one.'),
  external_id: z.string().nullable().describe('Id at the provider; null without one.'),
  is_completed: z.boolean().describe('Always true.'),
  description: z.string().nullable().describe('Text of the transaction.'),
});
const TRANSACTION_EXAMPLE = {
  ...{ transaction_id: 9, user_id: 17, type: 'deposit', ...AMOUNT_EXAMPLE, payment_method: 'yookassa', external_id: 'a1b2' },
  ...{ is_completed: true, description: 'Top-up' },
};

/** Events that the SQL functions of prisma/sql (ledger, topups, withdrawals) record with the money. */
export const LEDGER_EVENTS = [
  defineEvent('payment.completed', Transaction, {
    audience: 'feed',
    hasWebhook: true,
    description: 'A transaction of type `deposit` was recorded.',
    example: TRANSACTION_EXAMPLE,
  }),
  defineEvent('transaction.created', Transaction, {
    audience: 'feed',
    hasWebhook: true,
    description: 'A transaction of another type was recorded.',
    example: { ...TRANSACTION_EXAMPLE, type: 'subscription_payment', payment_method: 'balance', external_id: null },
  }),
  defineEvent(
    'balance.topup',
    z.object({ ...AmountAndBalanceFields.shape, description: z.string().describe('Name of the method.') }),
    {
      audience: 'user',
      description: 'A payment at a provider was credited.',
      example: { ...AMOUNT_AND_BALANCE_EXAMPLE, description: 'YooKassa' },
    },
  ),
  defineEvent(
    'balance.change',
    z.object({ ...AmountAndBalanceFields.shape, description: z.string().nullable().describe('Text of the transaction.') }),
    {
      audience: 'user',
      description: 'Any movement other than a top-up by the user; the amount is negative for a charge.',
      example: { ...AMOUNT_AND_BALANCE_EXAMPLE, description: null },
    },
  ),
  defineEvent(
    'payment.received',
    z.object({ ...AmountFields.shape, payment_method: z.string().describe('Code of the payment method, such as `yookassa`.') }),
    {
      audience: 'user',
      description: 'A provider took money from the user: a top-up (`balance.topup` beside it) or a payment for something.',
      example: { ...AMOUNT_EXAMPLE, payment_method: 'yookassa' },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof LEDGER_EVENTS> {}
}
