import { open, rm } from 'node:fs/promises';
import { addDays } from '../core/clock.ts';
import { formatPrice } from '../core/money.ts';
import { exportPayouts } from '../domain/referrals/withdrawals/export-payouts.ts';
import type { PayoutFilter } from '../domain/referrals/withdrawals/payouts-repo.ts';
import { type Command, type CommandCall, CommandError, UsageError } from './command.ts';
import { withApp } from './open-service.ts';

const STATUSES = ['approved', 'completed'] as const;

export const exportWithdrawalsCommand: Command = {
  name: 'withdrawals export',
  parameters: '--from DAY --to DAY [--status STATUS] [--output FILE]',
  summary: 'Write payouts of referral earnings as CSV.',
  details: [
    '--from DAY, --to DAY    first and last day, YYYY-MM-DD (UTC), on which requests were approved or completed',
    '--status STATUS         approved (to be paid out) or completed (paid out); without it both',
    '--output FILE           a new file, which only its owner can read; without it standard output',
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
  const [from, last] = [dayOf(options.from, '--from'), dayOf(options.to, '--to')];
  if (last < from) throw new UsageError('--to is before --from.');
  const status = STATUSES.find((known) => known === options.status) ?? null;
  if (options.status !== undefined && status === null) {
    throw new UsageError(`--status must be ${STATUSES.join(' or ')}, not "${options.status}".`);
  }
  return { from, to: addDays(last, 1), status };
}

function dayOf(value: string | boolean | undefined, name: string): Date {
  const text = typeof value === 'string' ? value : '';
  const day = new Date(`${text}T00:00:00.000Z`);
  // A date such as 2026-02-31 would become one of March.
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (!isDay) throw new UsageError(`${name} must be a day as YYYY-MM-DD, not "${text}".`);
  return day;
}
