import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { lockState, readState, writeState } from '../../../core/service-state.ts';
import { type AdminChat, reportChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { readReport } from './read-report.ts';
import { dayBefore, isTimeReached, type ReportPeriod, reportPeriod } from './report-period.ts';
import { reportHtml } from './report-text.ts';

/** Row of `service_state`: the last reported day, and the chats that have got its report. */
const KEY = 'insight:daily-report';

interface SentReport {
  /** `YYYY-MM-DD` in Moscow. */
  day: string;
  chats: number[];
}

/**
 * Sends the report of the previous day to the administrators, at `ADMIN_REPORTS_SEND_TIME` (Moscow) or, where no instance ran then, later on
 * the same day (job `insight.send-report`, every minute; spec 06 section 14). A chat gets a day's report once, however many instances run:
 * message and mark are one transaction. A day that has passed without its report is left out. Without a time, a chat or a messenger nothing is
 * sent.
 */
export async function sendDailyReport(app: App): Promise<void> {
  const now = app.clock.now();
  if (!app.settings.get('ADMIN_REPORTS_ENABLED') || !isTimeReached(app.settings.get('ADMIN_REPORTS_SEND_TIME'), now)) return;
  const chat = reportChat(app);
  if (chat === null || !app.ports.messenger.isConfigured()) return;
  const day = dayBefore(now);
  if (isSent(await readState<SentReport>(app.db, KEY), day, chat)) return;
  const html = await renderReport(app, reportPeriod('day', day));
  await inTransaction(app, async (t) => {
    const sent = await lockState<SentReport>(t.db, KEY);
    if (isSent(sent, day, chat)) return;
    const others = sent.day === day ? (sent.chats ?? []) : [];
    await writeState(t.db, KEY, { day, chats: [...others, chat.messengerId] } satisfies SentReport);
    await sendMessage(t, { ...chat, html });
  });
}

/** Queues the report of a period on request, whether reports are enabled or not, and although it was sent before. @returns false without a chat or a messenger */
export async function sendRequestedReport(app: App, period: ReportPeriod): Promise<boolean> {
  const chat = reportChat(app);
  if (chat === null || !app.ports.messenger.isConfigured()) return false;
  const html = await renderReport(app, period);
  await inTransaction(app, (t) => sendMessage(t, { ...chat, html }));
  return true;
}

async function renderReport(app: App, period: ReportPeriod): Promise<string> {
  return reportHtml(app.settings.get('DEFAULT_LANGUAGE'), period, await readReport(app, period));
}

function isSent(sent: Partial<SentReport> | null, day: string, { messengerId }: AdminChat): boolean {
  // A later day: the clock of another instance is ahead.
  if (sent?.day === undefined || sent.day < day) return false;
  return sent.day > day || (sent.chats ?? []).includes(messengerId);
}
