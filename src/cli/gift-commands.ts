import { formatPrice } from '../core/money.ts';
import { refundGift } from '../domain/storefront/gifts/refund-gift.ts';
import { resendGift } from '../domain/storefront/gifts/resend-gift.ts';
import { type Command, UsageError } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';

const MAX_REASON = 300;

export const refundGiftCommand: Command = {
  name: 'gifts refund',
  parameters: 'ID --reason TEXT',
  summary: 'Give the money of a gift that nobody has claimed back to the balance of its buyer.',
  details: [
    'ID is the number of the purchase, as messages to administrators and the list of a user’s gifts show it.',
    '--reason TEXT    for the audit log; required',
    'The gift cannot be claimed afterwards.',
  ].join('\n'),
  options: { reason: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = purchaseId(call.words[0]!);
    const reason = typeof call.options.reason === 'string' ? call.options.reason.trim() : '';
    if (reason === '' || reason.length > MAX_REASON) throw new UsageError(`--reason needs 1 to ${MAX_REASON} characters.`);
    return withApp(call, async (app) => {
      const refunded = await refundGift(app, OPERATOR, id, reason);
      const { userId, amountKopeks, balanceKopeks, transactionId } = refunded;
      const text = [
        `Gift ${id} is refunded: ${formatPrice(amountKopeks, false)} to the balance of user ${userId} (transaction ${transactionId}).`,
        `The balance is ${formatPrice(balanceKopeks, false)} now.`,
      ].join('\n');
      const data = {
        ...{ purchase_id: id, user_id: userId, transaction_id: transactionId },
        ...{ amount_kopeks: amountKopeks, balance_kopeks: balanceKopeks },
      };
      return { text, data };
    });
  },
};

export const resendGiftCommand: Command = {
  name: 'gifts resend',
  parameters: 'ID',
  summary: 'Send the notice of a gift to its recipient again.',
  details: 'The running service sends it. A gift that is only a code has no notice.',
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = purchaseId(call.words[0]!);
    return withApp(call, async (app) => {
      const { type, value } = await resendGift(app, OPERATOR, id);
      return { text: `The notice of gift ${id} is queued for ${value}.`, data: { purchase_id: id, type, recipient: value } };
    });
  },
};

function purchaseId(word: string): number {
  if (!/^\d{1,9}$/.test(word)) throw new UsageError('The id of a gift is a whole number.');
  return Number(word);
}
