import type { App } from '../../src/core/app.ts';
import { addDays } from '../../src/core/clock.ts';
import { changeContestTemplate, startRound, type TemplateRequest } from '../../src/domain/engagement/daily-contests/rounds.ts';
import type { NamedRound } from '../../src/domain/engagement/daily-contests/types.ts';
import { createReferralContest, type NewContest } from '../../src/domain/engagement/referral-contests/contests.ts';
import type { ReferralContest } from '../../src/domain/engagement/referral-contests/types.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { unique } from './builders.ts';

/** Id of a game's template. */
export async function templateOf(app: App, slug: string): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>('SELECT id FROM contest_templates WHERE slug = $1', [slug]);
  return row!.id;
}

/** A round of the quest that is played now; the right answer is 4. Fields change the template first. */
export async function aRound(app: App, template: TemplateRequest = {}): Promise<NamedRound> {
  const id = await templateOf(app, 'quest_buttons');
  await changeContestTemplate(app, id, { prizeType: 'balance', prizeValue: '5000', maxWinners: 1, ...template });
  return startRound(app, id, { payload: { rows: 3, cols: 3, secret_idx: 4 }, force: true });
}

/** What the database holds of a round and of a player. */
export async function roundFacts(app: App, roundId: number) {
  const [row] = await app.db.sql<{ winners: number; attempts: number; won: number; paid: number }>(
    `SELECT r.winners_count AS winners, (SELECT count(*)::int FROM contest_attempts a WHERE a.round_id = r.id) AS attempts,
       (SELECT count(*)::int FROM contest_attempts a WHERE a.round_id = r.id AND a.is_winner) AS won,
       (SELECT coalesce(sum(x.amount_kopeks), 0)::bigint FROM contest_attempts a JOIN transactions x ON x.id = a.prize_transaction_id
         WHERE a.round_id = r.id AND x.type = 'deposit' AND x.payment_method IS NULL) AS paid
     FROM contest_rounds r WHERE r.id = $1::int`,
    [roundId],
  );
  return row!;
}

/** A contest that runs from yesterday until in ten days. */
export function aContest(app: App, fields: Partial<NewContest> = {}): Promise<ReferralContest> {
  const now = app.clock.now();
  return createReferralContest(app, {
    title: `Contest ${unique()}`,
    contestType: 'referral_paid',
    startAt: addDays(now, -1).toISOString(),
    endAt: addDays(now, 10).toISOString(),
    timezone: 'UTC',
    isActive: true,
    ...fields,
  });
}

/** A payment for a subscription from the balance. @returns its transaction */
export async function aPurchase(app: App, userId: number, amountKopeks: number): Promise<number> {
  const posting = await postMovement(app, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -amountKopeks,
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'balance',
    description: null,
  });
  if (posting.outcome !== 'posted') throw new Error(posting.outcome);
  return posting.transactionId;
}

/** Events of a contest by referral. */
export function eventsOf(app: App, contestId: number) {
  return app.db.sql<{ referrerId: number; referralId: number; eventType: string; amountKopeks: number; occurredAt: Date }>(
    `SELECT referrer_id, referral_id, event_type, amount_kopeks, occurred_at FROM referral_contest_events
     WHERE contest_id = $1::int ORDER BY referral_id`,
    [contestId],
  );
}

/** Payloads of the jobs of a queue that wait. */
export async function jobsOf<T>(app: App, queue: string): Promise<T[]> {
  const rows = await app.db.sql<{ data: T }>('SELECT data FROM jobs.job WHERE name = $1 ORDER BY created_on, ctid', [queue]);
  return rows.map(({ data }) => data);
}
