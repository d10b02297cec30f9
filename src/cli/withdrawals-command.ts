import { open, rm } from 'node:fs/promises';
import { formatPrice } from '../core/money.ts';
import { listDebts } from '../domain/referrals/take-back-rewards.ts';
import { exportPayouts } from '../domain/referrals/withdrawals/export-payouts.ts';
import type { PayoutFilter } from '../domain/referrals/withdrawals/types.ts';
import { type Command, type CommandCall, CommandError, UsageError } from './command.ts';
import { momentOf } from './moment-of.ts';
import { withApp } from './open-service.ts';
import { alignColumns } from './text-table.ts';
import { wholeNumber } from './whole-number.ts';

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
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(error.code === 'EEXIST' ? `${path} exists already.` : `${path} cannot be written: ${error.code}.`);
  });
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
  const [from, to] = [momentOf(options.from, '--from'), momentOf(options.to, '--to')];
  if (to <= from) throw new UsageError('--to must be after --from');
  const status = STATUSES.find((known) => known === options.status) ?? null;
  if (options.status !== undefined && status === null) {
    throw new UsageError(`--status must be ${STATUSES.join(' or ')}, not "${options.status}"`);
  }
  return { from, to, status };
}
