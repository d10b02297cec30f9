import {
  dayBefore,
  REPORT_DAYS,
  type ReportKind,
  readReport,
  reportPeriod,
  reportText,
  sendRequestedReport,
} from '../domain/insight/report/report.ts';
import { type Command, type CommandCall, CommandError, timestampOf, UsageError } from './command.ts';
import { withApp } from './open-service.ts';

export const reportCommand: Command = {
  name: 'report',
  parameters: '--period PERIOD [--date DAY] [--send]',
  summary: "The administrators' report of a day, a week or a month; with --json as data.",
  details: [
    '--period PERIOD    day, week (7 days) or month (30 days)',
    '--date DAY         the last day of the period, such as 2026-11-01, in Moscow time; without it, yesterday',
    "--send             also queues it to the chat of the reports (ADMIN_REPORTS_CHAT_ID, else the administrators' chat), although it was",
    '                   sent before; the running service sends it',
    '',
    'The state of subscriptions and open tickets is always that of now.',
  ].join('\n'),
  options: { period: { type: 'string' }, date: { type: 'string' }, send: { type: 'boolean' } },
  words: [0, 0],
  runsInService: true,
  run: (call) => {
    const kind = kindOf(call);
    const day = dayOf(call);
    return withApp(call, async (app) => {
      const period = reportPeriod(kind, day ?? dayBefore(app.clock.now()));
      const report = await readReport(app, period);
      if (call.options.send === true && !(await sendRequestedReport(app, period))) {
        throw new CommandError(
          'There is no chat or no bot: set BOT_TOKEN and ADMIN_REPORTS_CHAT_ID or ADMIN_NOTIFICATIONS_CHAT_ID, or leave out --send.',
        );
      }
      const text = `${reportText(app.settings.get('DEFAULT_LANGUAGE'), period, report)}\n`;
      return { text, data: { period, ...report } };
    });
  },
};

function kindOf({ options: { period } }: CommandCall): ReportKind {
  const kinds = Object.keys(REPORT_DAYS) as ReportKind[];
  const kind = kinds.find((known) => known === period);
  if (kind === undefined) throw new UsageError('--period must be day, week or month');
  return kind;
}

/** Null: none was given. */
function dayOf({ options: { date } }: CommandCall): string | null {
  if (date === undefined) return null;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(String(date))) throw new UsageError('--date needs a day, for example 2026-11-01');
  return timestampOf(date, '--date').toISOString().slice(0, 10);
}
