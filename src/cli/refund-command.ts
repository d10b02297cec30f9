import { isAppError } from '../core/errors.ts';
import { formatPrice } from '../core/money.ts';
import { requestRefund } from '../domain/payments/refunds/request-refund.ts';
import { type Command, CommandError, UsageError } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';
import { wholeNumber } from './whole-number.ts';

const MAX_INTEGER = 2_147_483_647;

/** `payments refund`: gives a payment back through its provider. */
export const refundCommand: Command = {
  name: 'payments refund',
  parameters: 'PAYMENT_ID --reason TEXT [--kopeks N]',
  summary: 'Give a credited payment back through its provider.',
  details: [
    'The balance is debited at once, at most what it has; the service then asks the provider until it answers. When the provider refuses,',
    'the debit goes back. What follows for the subscription is set by REFUND_SUBSCRIPTION_RULE.',
    '',
    '--kopeks N       a part of the payment; without it, all that is left of it',
    '--reason TEXT    kept with the refund',
  ].join('\n'),
  options: { kopeks: { type: 'string' }, reason: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const paymentId = wholeNumber(call.words[0]!, 'PAYMENT_ID', MAX_INTEGER);
    const amountKopeks =
      call.options.kopeks === undefined ? null : wholeNumber(String(call.options.kopeks), '--kopeks', MAX_INTEGER);
    const reason = String(call.options.reason ?? '').trim();
    if (reason === '' || reason.length > 500) throw new UsageError('--reason needs a text of at most 500 characters');
    return withApp(call, async (app) => {
      try {
        const made = await requestRefund(app, { paymentId, amountKopeks, reason, requestedBy: OPERATOR.name });
        const text = `Refund ${made.refundId} is requested; ${formatPrice(made.debitedKopeks, false)} were taken from the balance.`;
        return { text, data: made };
      } catch (error) {
        if (isAppError(error)) throw new CommandError(error.message, { cause: error });
        throw error;
      }
    });
  },
};
