import { alignColumns, type Command, CommandError, UsageError, wholeNumber } from './command.ts';
import { withAssembledService } from './open-service.ts';

const MAX_PEOPLE = 100_000;
const MAX_DAYS = 730;
const MAX_SEED = 2_147_483_647;

export const sandboxFillCommand: Command = {
  name: 'sandbox fill',
  parameters: '[--users N] [--days N] [--seed N]',
  summary: 'Fill a new sandbox installation with a plausible past, for trying and showing it.',
  details: [
    '--users N    people who came, default 2000',
    '--days N     length of the past, default 180; the last day is today',
    '--seed N     another past; the same number gives the same one',
    '',
    'Only where panel, payments, messenger and mail are all of the sandbox, and before anybody has an account. The service must not run.',
    'Each registration, payment, purchase and ticket is made by the same code as that of a request, at its time by the clock of the sandbox.',
  ].join('\n'),
  options: { users: { type: 'string' }, days: { type: 'string' }, seed: { type: 'string' } },
  words: [0, 0],
  run: async (call) => {
    const numberOf = (name: 'users' | 'days' | 'seed', usual: number, max: number) => {
      const value = call.options[name];
      return value === undefined ? usual : wholeNumber(String(value), `--${name}`, max);
    };
    const people = numberOf('users', 2_000, MAX_PEOPLE);
    const days = numberOf('days', 180, MAX_DAYS);
    const seed = numberOf('seed', 1, MAX_SEED);
    if (days < 2) throw new UsageError('--days must be at least 2.');
    // Nobody waits for the panel's link, and nobody gets a message of half a year ago.
    const source = { ...call.terminal.source, PROVISION_ANSWER_WAIT_MS: '0', ENABLE_NOTIFICATIONS: 'false' };
    // With the sandbox, which a production installation does not have.
    const { fillSandbox, NotFillable } = await import('../composition/fill-sandbox.ts');
    return withAssembledService({ ...call, terminal: { ...call.terminal, source } }, async (assembled) => {
      const report = await fillSandbox(assembled, { people, days, seed }, call.progress).catch((error: unknown) => {
        throw error instanceof NotFillable ? new CommandError(error.message) : error;
      });
      const rows = [
        ...Object.entries(report.done),
        ...Object.entries(report.refused).map(([what, n]) => [`refused: ${what}`, n]),
      ];
      return { text: alignColumns([['WHAT', 'TIMES'], ...rows.map(([what, n]) => [String(what), String(n)])]), data: report };
    });
  },
};
