import { rm } from 'node:fs/promises';
import { formatPrice } from '../core/money.ts';
import { refundPayment } from '../domain/approvals/request-approval.ts';
import { listDebts } from '../domain/referrals/rewards.ts';
import { exportPayouts } from '../domain/referrals/withdrawals/decide.ts';
import type { PayoutFilter } from '../domain/referrals/withdrawals/types.ts';
import { refundGift, resendGift } from '../domain/storefront/gifts/refund-gift.ts';
import { alignColumns, type Command, type CommandCall, openNewFile, timestampOf, UsageError, wholeNumber } from './command.ts';
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

const MAX_INTEGER = 2_147_483_647;

/** `payments refund`: refunds a payment through its provider. */
export const refundCommand: Command = {
  name: 'payments refund',
  parameters: 'PAYMENT_ID --reason TEXT [--kopeks N]',
  summary: 'Give a credited payment back through its provider.',
  details: [
    'The balance is debited at once, at most what it has; the service then asks the provider until it answers. When the provider refuses,',
    'the debit goes back. What follows for the subscription is set by REFUND_SUBSCRIPTION_RULE. Above APPROVAL_REFUND_KOPEKS the refund waits',
    'until an administrator approves it in the cabinet; what it would take of the balance is held meanwhile.',
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
      const made = await refundPayment(app, OPERATOR, { paymentId, amountKopeks, reason, requestedBy: OPERATOR.name });
      if ('approval' in made) {
        const { id, expiresAt } = made.approval;
        const waits = `The refund waits for an administrator in the cabinet until ${expiresAt.toISOString()}: approval ${id}.`;
        return { text: waits, data: made };
      }
      const text = `Refund ${made.refundId} is requested; ${formatPrice(made.debitedKopeks, false)} were taken from the balance.`;
      return { text, data: made };
    });
  },
};

const STATUSES = ['approved', 'completed'] as const;

export const exportWithdrawalsCommand: Command = {
  name: 'withdrawals export',
  parameters: '--from DATE --to DATE [--status STATUS] [--output FILE]',
  summary: 'Write payouts of referral earnings as CSV.',
  details: [
    '--from DATE        first moment at which a request was approved or completed: a day such as 2026-11-01 (its midnight UTC) or a date',
    '                   with time',
    '--to DATE          the moment after the last one',
    '--status STATUS    approved (to be paid out) or completed (paid out); without it both',
    '--output FILE      a new file, which only its owner can read; without it standard output',
    '',
    'The file contains payment details. With npm, call it as npm run --silent cli -- withdrawals export … to have nothing but the CSV.',
  ].join('\n'),
  options: { from: { type: 'string' }, to: { type: 'string' }, status: { type: 'string' }, output: { type: 'string' } },
  words: [0, 0],
  run: async (call) => {
    const filter = filterOf(call);
    const { output } = call.options;
    if (typeof output === 'string') return exportTo(output, call, filter);
    if (call.isJson) throw new UsageError('With --json the CSV needs a file: --output FILE.');
    await withApp(call, (app) => exportPayouts(app, filter, call.terminal.out));
    return { text: null, data: null };
  },
};

const MAX_LISTED = 500;

export const listDebtsCommand: Command = {
  name: 'withdrawals debts',
  parameters: '[--limit N]',
  summary: 'List referrers who owe rewards that were taken back.',
  details: [
    '--limit N          1 to 500, default 50; the greatest debts first',
    '',
    'A reward is taken back when its payment is refunded. What the referrer had spent or withdrawn by then is a debt that later rewards pay first.',
  ].join('\n'),
  options: { limit: { type: 'string' } },
  words: [0, 0],
  run: (call) => {
    const limit = call.options.limit === undefined ? 50 : wholeNumber(String(call.options.limit), '--limit', MAX_LISTED);
    return withApp(call, async (app) => {
      const { debtors, totalKopeks } = await listDebts(app, limit);
      const rows = debtors.map((debtor) => [
        ...[String(debtor.userId), formatPrice(debtor.kopeks, false), debtor.updatedAt.toISOString()],
      ]);
      const text =
        rows.length === 0
          ? 'Nobody owes anything.'
          : `${alignColumns([['USER', 'DEBT', 'CHANGED'], ...rows])}\n\n${formatPrice(totalKopeks, false)} in all.`;
      const data = debtors.map(({ userId, kopeks, updatedAt }) => ({ user_id: userId, kopeks, updated_at: updatedAt }));
      return { text, data: { total_kopeks: totalKopeks, debtors: data } };
    });
  },
};

async function exportTo(path: string, call: CommandCall, filter: PayoutFilter) {
  const file = await openNewFile(path);
  try {
    // Spreadsheets read a file without this mark in another encoding than UTF-8.
    await file.write('\uFEFF');
    const found = await withApp(call, (app) =>
      exportPayouts(app, filter, async (csv) => {
        await file.write(csv);
      }),
    );
    const text = `${found.payouts} payouts, ${formatPrice(found.amountKopeks, true)} in all, written to ${path}.`;
    return { text, data: { file: path, payouts: found.payouts, amount_kopeks: found.amountKopeks } };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function filterOf({ options }: CommandCall): PayoutFilter {
  const [from, to] = [timestampOf(options.from, '--from'), timestampOf(options.to, '--to')];
  if (to <= from) throw new UsageError('--to must be after --from');
  const status = STATUSES.find((known) => known === options.status) ?? null;
  if (options.status !== undefined && status === null) {
    throw new UsageError(`--status must be ${STATUSES.join(' or ')}, not "${options.status}"`);
  }
  return { from, to, status };
}
