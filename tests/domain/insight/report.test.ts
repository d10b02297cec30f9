import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import type { Rows } from '../../../src/core/db/columns.ts';
import {
  dayBefore,
  type ReportKind,
  readReport,
  reportHtml,
  reportPeriod,
  reportText,
  sendDailyReport,
  sendRequestedReport,
} from '../../../src/domain/insight/report/report.ts';
import { aUser, unique } from '../../support/builders.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { countEverything, payAt, postAt } from '../../support/statistics-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, type TestAppOptions, TestClock, testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';
import { takeMessages } from '../../support/ticket-fixture.ts';

/** 18:30 of 20 November in Moscow. */
const NOW = new Date('2026-11-20T15:30:00Z');
const clock = new TestClock();
let t: TestApp;
let chatId: number;

const reporting = (environment: Record<string, string> = {}): Promise<TestApp> => {
  const options: TestAppOptions = {
    clock,
    environment: {
      ADMIN_REPORTS_ENABLED: 'true',
      ADMIN_REPORTS_CHAT_ID: String(chatId),
      ADMIN_REPORTS_SEND_TIME: '09:30',
      DEFAULT_LANGUAGE: 'en',
      ...environment,
    },
  };
  return testApp(options);
};

beforeEach(async () => {
  clock.set(NOW);
  chatId = -6_000_000 - unique();
  t = await reporting();
});
afterEach(() => emptyDatabase(t.database));

const sql = <T extends object>(text: string, values: unknown[] = []) => t.app.db.sql<T>(text, values);
const one = async <T extends object>(text: string, values: unknown[] = []): Promise<T> => (await sql<T>(text, values))[0]!;

/** The first and the last millisecond of a day, its neighbours, and times within, in the days of Moscow (UTC+3). */
const TIMESTAMPS = ['2026-11-19', '2026-11-13', '2026-10-21', '2026-11-20'].flatMap((day) => {
  const midnight = new Date(`${day}T00:00:00+03:00`).getTime();
  return [-1, 0, 5 * HOUR_MS, 12 * HOUR_MS, DAY_MS - 1, DAY_MS].map((ms) => new Date(midnight + ms));
});

async function aTicketAt(userId: number, at: Date, status: Rows['Ticket']['status']): Promise<void> {
  const closedAt = status === 'closed' ? at : null;
  await storeRow(t.app, 'Ticket', { userId, status, createdAt: at, updatedAt: at, closedAt });
}

/** Everything that a report counts, at each of the times. */
async function fillInstallation(): Promise<void> {
  const referrers = [await aUser(t.app), await aUser(t.app)];
  const statuses = ['open', 'pending', 'answered', 'closed'] as const;
  for (const [index, at] of TIMESTAMPS.entries()) {
    const { id } = await aUser(t.app);
    await sql('UPDATE users SET created_at = $2::timestamptz, referred_by_id = $3::int WHERE id = $1::int RETURNING id', [
      id,
      at,
      index % 4 === 3 ? null : referrers[index % 3 === 0 ? 1 : 0]!.id,
    ]);
    await aStoredSubscription(t.app, id, {
      is_trial: index % 2 === 0,
      status: ['trial', 'active', 'expired', 'active', 'active'][index % 5]!,
      created_at: at,
      end_date: new Date(NOW.getTime() + (index % 7 < 2 ? -1 : 1) * DAY_MS),
      connected_squads: index % 3 === 0 ? [] : ['5a11ad00-0000-4000-8000-000000000001'],
    });
    if (index % 3 !== 1) {
      await storeRow(t.app, 'SubscriptionConversion', { userId: id, convertedAt: at });
    }
    await postAt(t.app, id, at, 10_000 + index);
    await postAt(t.app, id, at, 700, { paymentMethod: 'manual' });
    await postAt(t.app, id, at, 500, { type: 'referral_reward', paymentMethod: null });
    await payAt(t.app, id, at, 5_000 + index * 10);
    await aTicketAt(id, at, statuses[index % 4]!);
  }
}

/** The values of the specification, computed from single rows in the days of Moscow. */
async function valuesOfFacts(firstDay: string, lastDay: string) {
  const within = (column: string) => `(${column} AT TIME ZONE 'Europe/Moscow')::date BETWEEN $1::text::date AND $2::text::date`;
  const row = await one<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM users WHERE ${within('created_at')}) AS new_users,
       (SELECT count(*)::int FROM subscriptions WHERE is_trial AND ${within('created_at')}) AS new_trials,
       (SELECT count(*)::int FROM subscription_conversions WHERE ${within('converted_at')}) AS conversions,
       (SELECT count(*)::int FROM subscriptions WHERE NOT is_trial AND ${within('created_at')}) AS sold,
       (SELECT count(*)::int FROM transactions WHERE type = 'subscription_payment' AND is_completed AND ${within('created_at')}) AS payments,
       (SELECT coalesce(sum(abs(amount_kopeks)), 0)::bigint FROM transactions
        WHERE type = 'subscription_payment' AND is_completed AND ${within('created_at')}) AS payments_kopeks,
       (SELECT count(*)::int FROM transactions WHERE type = 'deposit' AND payment_method = 'yookassa' AND ${within('created_at')}) AS deposits,
       (SELECT coalesce(sum(amount_kopeks), 0)::bigint FROM transactions
        WHERE type = 'deposit' AND payment_method = 'yookassa' AND ${within('created_at')}) AS deposits_kopeks,
       (SELECT count(*)::int FROM tickets WHERE ${within('created_at')}) AS new_tickets,
       (SELECT count(*)::int FROM tickets WHERE status <> 'closed') AS open_tickets,
       (SELECT count(*)::int FROM subscriptions WHERE is_trial AND end_date > $3::timestamptz AND status IN ('trial', 'active')) AS active_trials,
       (SELECT count(*)::int FROM subscriptions WHERE NOT is_trial AND status = 'active') AS active_paid,
       (SELECT count(DISTINCT user_id)::int FROM subscriptions WHERE NOT is_trial AND status = 'active' AND end_date > $3::timestamptz)
         AS active_payers,
       (SELECT count(DISTINCT user_id)::int FROM subscriptions WHERE jsonb_array_length(connected_squads) = 0) AS never_connected`,
    [firstDay, lastDay, NOW],
  );
  const topReferrers = await sql<{ name: string; invited: number }>(
    `SELECT r.first_name AS name, count(*)::int AS invited FROM users u JOIN users r ON r.id = u.referred_by_id
     WHERE ${within('u.created_at')} GROUP BY r.id ORDER BY invited DESC, r.id LIMIT 5`,
    [firstDay, lastDay],
  );
  const { sold, payments, paymentsKopeks, deposits, depositsKopeks, ...counts } = row;
  return {
    ...counts,
    conversionPercent: counts.newTrials === 0 ? 0 : Math.round((counts.conversions! / counts.newTrials!) * 1_000) / 10,
    newPaid: sold! + counts.conversions!,
    payments: { count: payments, kopeks: paymentsKopeks },
    deposits: { count: deposits, kopeks: depositsKopeks },
    topReferrers,
  };
}

const PERIODS: [ReportKind, string, string, string][] = [
  ['day', '2026-11-19', '2026-11-19', '2026-11-19'],
  ['day', '2026-11-13', '2026-11-13', '2026-11-13'],
  ['day', '2026-10-01', '2026-10-01', '2026-10-01'],
  ['week', '2026-11-19', '2026-11-13', '2026-11-19'],
  ['month', '2026-11-19', '2026-10-21', '2026-11-19'],
];

describe("06 14: the values of the administrators' report", () => {
  test.each(['UTC', 'Europe/Moscow', 'America/New_York'])(
    'are those of the rows, with statistics in days of %s',
    async (zone) => {
      t = await reporting({ TIMEZONE: zone });
      await fillInstallation();
      // Some payments are counted by day, others are not yet.
      await countEverything(t.app);
      const late = await aUser(t.app);
      await payAt(t.app, late.id, TIMESTAMPS[1]!, 12_345);
      await postAt(t.app, late.id, TIMESTAMPS[4]!, 54_321);
      for (const [kind, lastDay, first, last] of PERIODS) {
        const period = reportPeriod(kind, lastDay);
        expect([period.firstDay, period.lastDay]).toEqual([first, last]);
        expect(await readReport(t.app, period), `${kind} until ${lastDay}`).toEqual(await valuesOfFacts(first, last));
      }
      // The samples are not trivial.
      const day = await readReport(t.app, reportPeriod('day', '2026-11-19'));
      expect(day).toMatchObject({ newUsers: 5, newTickets: 5, deposits: { count: 6 }, payments: { count: 6 } });
      expect([day.newTrials, day.newPaid, day.neverConnected, day.activePayers].every((value) => value > 0)).toBe(true);
      expect(day.activePayers).toBeLessThan(day.activePaid);
    },
  );

  test('are zeros on a day without rows, and of a new installation', async () => {
    const report = await readReport(t.app, reportPeriod('day', '2026-11-19'));
    const nothing = { count: 0, kopeks: 0 };
    expect(report).toMatchObject({ newUsers: 0, conversionPercent: 0, payments: nothing, deposits: nothing, topReferrers: [] });
  });

  test('a text in each language, with names that are no HTML', async () => {
    await fillInstallation();
    await sql(`UPDATE users SET first_name = '<b>Ann & Co' WHERE id IN (SELECT referred_by_id FROM users) RETURNING id`);
    const period = reportPeriod('week', '2026-11-19');
    const report = await readReport(t.app, period);
    const html = reportHtml('en', period, report);
    expect(html).toContain('📊 <b>Report of the week, 13.11.2026 – 19.11.2026</b>');
    expect(html).toContain(`New users: <b>${report.newUsers}</b>`);
    expect(html).toContain('1. &lt;b&gt;Ann &amp; Co: ');
    const plain = reportText('en', period, report);
    expect(plain).toContain('1. <b>Ann & Co: ');
    expect(plain).not.toContain('&amp;');
    expect(reportHtml('ru', period, report)).toContain('Отчёт за неделю, 13.11.2026 – 19.11.2026');
    for (const text of [html, plain, reportHtml('ru', period, report)]) expect(text).not.toMatch(/\{\w+\}/);
  });
});

describe('06 14: sending it', () => {
  const sent = () => takeMessages(t.app, chatId);
  const at = (time: string) => clock.set(new Date(`2026-11-20T${time}:00+03:00`));

  test('at the time of Moscow, the day before, once for all instances', async () => {
    const other = await reporting();
    at('09:29');
    await sendDailyReport(t.app);
    expect(await sent()).toEqual([]);
    at('09:30');
    await sendDailyReport(t.app);
    await sendDailyReport(other.app);
    const [message, ...more] = await sent();
    expect(more).toEqual([]);
    expect(message!.html).toContain('Report of 19.11.2026');
    expect(message!.threadId).toBeUndefined();
    at('23:59');
    await sendDailyReport(other.app);
    expect(await sent()).toEqual([]);
    clock.set(new Date('2026-11-21T09:30:00+03:00'));
    await sendDailyReport(other.app);
    await sendDailyReport(t.app);
    expect((await sent()).map(({ html }) => html)).toEqual([expect.stringContaining('Report of 20.11.2026')]);
  });

  test('later on the same day when no instance ran at the time, but not after the day', async () => {
    at('23:58');
    await sendDailyReport(t.app);
    expect(await sent()).toHaveLength(1);
    clock.set(new Date('2026-11-22T00:01:00+03:00'));
    await sendDailyReport(t.app);
    expect(await sent()).toEqual([]);
  });

  test.each([
    ['disabled', { ADMIN_REPORTS_ENABLED: 'false' }],
    ['without a time', { ADMIN_REPORTS_SEND_TIME: '' }],
    ['without a chat', { ADMIN_REPORTS_CHAT_ID: '' }],
  ])('nothing while %s, and nothing is marked as sent', async (_, environment: Record<string, string>) => {
    const off = await reporting(environment);
    await sendDailyReport(off.app);
    expect(await sent()).toEqual([]);
    await sendDailyReport(t.app);
    expect(await sent()).toHaveLength(1);
  });

  test('nothing without a messenger, and nothing is marked as sent', async () => {
    const messenger = Object.assign(Object.create(t.app.ports.messenger) as typeof t.app.ports.messenger, {
      isConfigured: () => false,
    });
    const without = { ...t.app, ports: { ...t.app.ports, messenger } };
    await sendDailyReport(without);
    expect(await sendRequestedReport(without, reportPeriod('day', dayBefore(NOW)))).toBe(false);
    expect(await sent()).toEqual([]);
    await sendDailyReport(t.app);
    expect(await sent()).toHaveLength(1);
  });

  test('to the chat and topic of notices without a chat of its own, also while notices are off', async () => {
    const { app } = await reporting({
      ADMIN_REPORTS_CHAT_ID: '',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(chatId),
      ADMIN_NOTIFICATIONS_TOPIC_ID: '7',
    });
    await sendDailyReport(app);
    expect(await sent()).toMatchObject([{ threadId: 7 }]);
    const topic = await reporting({ ADMIN_REPORTS_TOPIC_ID: '9' });
    // Another chat of the same day gets it too, each once.
    chatId = -6_000_000 - unique();
    const moved = await reporting({ ADMIN_REPORTS_TOPIC_ID: '9' });
    await sendDailyReport(moved.app);
    await sendDailyReport(moved.app);
    await sendDailyReport(topic.app);
    expect(await sent()).toMatchObject([{ threadId: 9 }]);
  });

  test('a failed transaction marks nothing', async () => {
    await whileRefused(t.app, 'jobs.job', () => expect(sendDailyReport(t.app)).rejects.toThrow('refused row of'));
    await sendDailyReport(t.app);
    expect(await sent()).toHaveLength(1);
  });

  test('on request a week and a month, although reports are off', async () => {
    const { app } = await reporting({ ADMIN_REPORTS_ENABLED: 'false' });
    expect(await sendRequestedReport(app, reportPeriod('month', dayBefore(NOW)))).toBe(true);
    expect((await sent()).map(({ html }) => html)).toEqual([expect.stringContaining('21.10.2026 – 19.11.2026')]);
    const chatless = await reporting({ ADMIN_REPORTS_CHAT_ID: '' });
    expect(await sendRequestedReport(chatless.app, reportPeriod('day', dayBefore(NOW)))).toBe(false);
  });
});
