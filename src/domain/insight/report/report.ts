import type { App } from '../../../core/app.ts';
import { addDays, addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { lockState, readState, writeState } from '../../../core/service-state.ts';
import { type AdminChat, reportChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, htmlText, shorten } from '../../messaging/texts.ts';
import { countSubscriptions } from '../repo.ts';
import { displayName, isRealMethod } from '../rules.ts';
import { percentOf } from '../sales/period.ts';
import { findPeriod, sumDays, sumSales } from '../sales/repo.ts';
import { countForReport, listTopInviting } from './report-repo.ts';

const TOP_REFERRERS = 5;

export type Report = Awaited<ReturnType<typeof readReport>>;

/**
 * The values of an administrators' report (spec 06 section 14): what happened in the period, and the state of now. They are those of the sales
 * statistics, so both agree. New paid subscriptions are those that began without a trial, and conversions. Money is in kopeks.
 */
export async function readReport(app: App, period: ReportPeriod) {
  const now = app.clock.now();
  // Both ends of a period of the statistics are part of it.
  const days = await findPeriod(app.db, period.from, addMs(period.until, -1));
  const [registrations, trials, conversions, sold, sales, counts, subscriptions, inviting] = await Promise.all([
    sumDays(app.db, 'registrations', days, ['key']),
    sumDays(app.db, 'trials', days, ['key']),
    sumDays(app.db, 'conversions', days, ['key']),
    sumDays(app.db, 'sold', days, ['key']),
    sumSales(app.db, days, ['type', 'paymentMethod']),
    countForReport(app.db, period.from, period.until, now),
    countSubscriptions(app.db, now),
    listTopInviting(app.db, period.from, period.until, TOP_REFERRERS),
  ]);
  const payments = sales.filter(({ type }) => type === 'subscription_payment');
  // Rewards for referrals are no deposits here, and have no method of a provider.
  const deposits = sales.filter(({ type, paymentMethod }) => type === 'deposit' && isRealMethod(paymentMethod));
  const [newTrials, converted] = [totalOf(trials), totalOf(conversions)];
  return {
    newUsers: totalOf(registrations),
    newTrials,
    conversions: converted,
    conversionPercent: percentOf(converted, newTrials),
    newPaid: totalOf(sold) + converted,
    payments: moneyOf(payments),
    deposits: moneyOf(deposits),
    ...counts,
    activeTrials: subscriptions.activeTrials,
    activePaid: subscriptions.active - subscriptions.activeAndTrial,
    topReferrers: inviting.map((user) => ({ name: displayName(user), invited: user.invited })),
  };
}

function totalOf(rows: readonly { total: number }[]): number {
  return rows.reduce((sum, { total }) => sum + total, 0);
}

function moneyOf(rows: readonly { payments: number; amountKopeks: number }[]): { count: number; kopeks: number } {
  return {
    count: rows.reduce((sum, { payments }) => sum + payments, 0),
    kopeks: rows.reduce((sum, { amountKopeks }) => sum + amountKopeks, 0),
  };
}

// Pure rules of the periods of the administrators' reports: days of Moscow, whose clocks are 3 hours before UTC all year.

const MOSCOW_OFFSET_MS = 3 * HOUR_MS;

export const REPORT_DAYS = { day: 1, week: 7, month: 30 } as const;

export type ReportKind = keyof typeof REPORT_DAYS;

export interface ReportPeriod {
  kind: ReportKind;
  /** The first and the last day, `YYYY-MM-DD` in Moscow; both are part of the period. */
  firstDay: string;
  lastDay: string;
  /** The start of the period, and the first time after it. */
  from: Date;
  until: Date;
}

/** 1, 7 or 30 days. @param lastDay `YYYY-MM-DD` in Moscow */
export function reportPeriod(kind: ReportKind, lastDay: string): ReportPeriod {
  const until = addMs(new Date(`${lastDay}T00:00:00.000Z`), DAY_MS - MOSCOW_OFFSET_MS);
  const from = addDays(until, -REPORT_DAYS[kind]);
  return { kind, firstDay: moscowDay(from), lastDay, from, until };
}

/** The day before the one that Moscow has at a given time, `YYYY-MM-DD`. */
export function dayBefore(now: Date): string {
  return moscowDay(addDays(now, -1));
}

/** Whether the time of the day, `H:MM` or `HH:MM` in Moscow, has been reached. Without a time, or with another text, it never is. */
function isTimeReached(time: string | null, now: Date): boolean {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec((time ?? '').trim()) ?? [];
  if (hours === undefined) return false;
  const sinceMidnight = (now.getTime() + MOSCOW_OFFSET_MS) % DAY_MS;
  return sinceMidnight >= Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
}

function moscowDay(timestamp: Date): string {
  return addMs(timestamp, MOSCOW_OFFSET_MS).toISOString().slice(0, 10);
}

/** Of a name in the list of referrers, so that the message is never longer than the messenger accepts. */
const NAME_LENGTH = 60;

/** A report as a message, in the messenger's HTML. */
export function reportHtml(language: string, period: ReportPeriod, report: Report): string {
  const { payments, deposits, topReferrers, ...counts } = report;
  const { firstDay, lastDay } = period;
  const values = {
    ...counts,
    period: firstDay === lastDay ? dateText(lastDay) : `${dateText(firstDay)} – ${dateText(lastDay)}`,
    payments: payments.count,
    paymentsAmount: formatPrice(payments.kopeks, false),
    deposits: deposits.count,
    depositsAmount: formatPrice(deposits.kopeks, false),
  };
  const parts = [htmlText(language, `reports.${period.kind}`, values), htmlText(language, 'reports.values', values)];
  if (topReferrers.length > 0) {
    const lines = topReferrers.map(
      ({ name, invited }, index) => `${index + 1}. ${escapeHtml(shorten(name, NAME_LENGTH))}: ${invited}`,
    );
    parts.push([htmlText(language, 'reports.top_referrers'), ...lines].join('\n'));
  }
  return parts.join('\n\n');
}

/** The same as plain text, for a terminal. */
export function reportText(language: string, period: ReportPeriod, report: Report): string {
  return reportHtml(language, period, report)
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => CHARACTERS[name]!);
}

const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** `DD.MM.YYYY` of `YYYY-MM-DD`. */
function dateText(day: string): string {
  return day.split('-').reverse().join('.');
}

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
