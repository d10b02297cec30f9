import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { claimAlarm } from './repo.ts';
import { hasViolations, takeViolations, type Violation } from './violation-repo.ts';

const MESSAGES_PER_RUN = 10;
const PAUSE_MS = 500;
/** The setting has no upper bound; marks are deleted after 30 days. */
const MAX_COOLDOWN_MS = 30 * DAY_MS;
/** Longest time of a fast check; what it has not sent after that it cannot send any more. */
export const LONGEST_CHECK_MS = 1_800 * SECOND_MS;

/**
 * Tells the administrators' chat of the heaviest users, at most ten, and of one user once in `TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES`,
 * whichever instance and check finds the user (spec 06 section 14). In the transaction that removes or marks what is sent. Without a chat
 * nothing is sent.
 */
export async function sendAlarms(
  t: App,
  key: 'operations.traffic_fast' | 'operations.traffic_daily',
  violations: readonly Violation[],
): Promise<void> {
  if (violations.length === 0) return;
  const chat = adminChat(t, 'SUSPICIOUS_NOTIFICATIONS_TOPIC_ID');
  const now = t.clock.now();
  const cooldownMs = Math.min(t.settings.get('TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES') * MINUTE_MS, MAX_COOLDOWN_MS);
  let sent = 0;
  for (const { panelUuid, texts } of chat === null ? [] : violations.toSorted((a, b) => b.bytes - a.bytes)) {
    if (sent === MESSAGES_PER_RUN) break;
    if (!(await claimAlarm(t.db, panelUuid, now, addMs(now, -cooldownMs)))) continue;
    const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, texts);
    await sendMessage(t, { ...chat!, html }, { startAfter: addMs(now, sent * PAUSE_MS) });
    sent += 1;
  }
  t.log.warn({ violations: violations.length, sent }, 'traffic check: users above the threshold');
}

/** Sends what fast checks have found until a moment; what is too much for one run is dropped. Removal and messages are one transaction. */
export async function sendFoundAlarms(app: App, foundUntil: Date): Promise<void> {
  if (!(await hasViolations(app.db, foundUntil))) return;
  await inTransaction(app, async (t) => sendAlarms(t, 'operations.traffic_fast', await takeViolations(t.db, foundUntil)));
}

/** Sends what a fast check has found whose process ended before it could (job `traffic.send-alarms`). */
export function sendLeftAlarms(app: App): Promise<void> {
  return sendFoundAlarms(app, addMs(app.clock.now(), -LONGEST_CHECK_MS));
}
