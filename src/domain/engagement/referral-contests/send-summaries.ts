import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, htmlText, shorten } from '../../messaging/texts.ts';
import { areContestsEnabled, firstChannel } from '../contest-settings.ts';
import { type DueSummary, dueSummary, ranking } from './contests.ts';
import { insertSummary, listActive, listLeaders, listVirtual, lockContest, rankedOf, sumEvents, updateContest } from './repo.ts';
import type { RankedParticipant, ReferralContest } from './types.ts';

/** Places of a summary. */
const PLACES = 5;
/** Characters of the prize, which has no limit, and of a name: the messenger refuses messages of more than 4096. */
const MAX_PRIZE = 2_000;
const MAX_NAME = 100;

/**
 * The scheduled job: sends the summaries that are due to the administrators' chat and to the first required channel, each once, however
 * many instances run (spec 04 section 11.3). Without a messenger nothing is sent and nothing is marked.
 */
export async function sendContestSummaries(app: App): Promise<void> {
  if (!areContestsEnabled(app) || !app.ports.messenger.isConfigured()) return;
  const now = app.clock.now();
  for (const contest of await listActive(app.db)) {
    if (!dueSummary(contest, now)) continue;
    try {
      await inTransaction(app, (t) => sendDue(t, contest.id, now));
    } catch (error) {
      // The others are sent whatever is wrong with this one.
      // Any failure: of one summary; the next run repeats it.
      app.log.error({ err: error, contestId: contest.id }, 'a summary of a contest could not be sent');
    }
  }
}

async function sendDue(t: App, contestId: number, now: Date): Promise<void> {
  const contest = await lockContest(t.db, contestId);
  if (!contest?.isActive || contest.finalSummarySent) return;
  const due = dueSummary(contest, now);
  if (!due) return;
  const isNew = await insertSummary(t.db, { contestId, ...due, now });
  const changes = due.kind === 'final' ? { finalSummarySent: true, isActive: false } : { lastDailySummaryAt: now };
  await updateContest(t.db, contestId, changes, now);
  if (isNew) await announce(t, await summaryOf(t, contest, due));
}

async function announce(t: App, html: string): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_PROMO_TOPIC_ID');
  if (chat) await sendMessage(t, { ...chat, html });
  const channel = await firstChannel(t.db);
  if (channel !== null) await sendMessage(t, { messengerId: channel, html });
}

/** In Russian, the language of chats; the texts of administrators and names are escaped. */
async function summaryOf(t: App, contest: ReferralContest, { kind }: DueSummary): Promise<string> {
  const virtual = await listVirtual(t.db, contest.id);
  const leaders = await listLeaders(t.db, contest.id, PLACES);
  const totals = await sumEvents(t.db, contest.id);
  const added = (of: (participant: RankedParticipant) => number) =>
    virtual.reduce((sum, participant) => sum + of(participant), 0);
  const parts = [
    htmlText(null, kind === 'final' ? 'contests.summary_final' : 'contests.summary_daily', { title: contest.title }),
    placesOf(ranking([...leaders.map(rankedOf), ...virtual], PLACES)),
    htmlText(null, 'contests.summary_totals', {
      participants: totals.participants + virtual.length,
      referrals: totals.referrals + added(({ referralsCount }) => referralsCount),
      amount: formatPrice(totals.amountKopeks + added(({ totalAmountKopeks }) => totalAmountKopeks), false),
    }),
    contest.prizeText ? htmlText(null, 'contests.summary_prize', { prize: shorten(contest.prizeText, MAX_PRIZE) }) : '',
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function placesOf(participants: readonly RankedParticipant[]): string {
  if (participants.length === 0) return htmlText(null, 'contests.summary_nobody');
  const lines = participants.map(({ name, referralsCount, totalAmountKopeks }, index) => {
    return `${index + 1}. ${escapeHtml(shorten(name, MAX_NAME))}: ${referralsCount} (${formatPrice(totalAmountKopeks, false)})`;
  });
  return lines.join('\n');
}
