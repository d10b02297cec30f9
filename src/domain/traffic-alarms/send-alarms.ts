import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextParams } from '../messaging/texts.ts';
import { claimAlarm } from './repo.ts';

/** A user whose traffic the administrators should see. */
export interface Violation {
  panelUuid: string;
  bytes: number;
  /** Of the message; values are escaped there. */
  values: TextParams;
}

const MESSAGES_PER_RUN = 10;
const PAUSE_MS = 500;
/** The setting has no upper bound; marks are deleted after 30 days. */
const MAX_COOLDOWN_MS = 30 * DAY_MS;

/**
 * Tells the administrators' chat of the heaviest users, at most ten a run, and of one user once in `TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES`,
 * whichever instance and check finds the user (spec 06 section 14). Message and mark are one transaction.
 */
export async function sendAlarms(
  app: App,
  key: 'operations.traffic_fast' | 'operations.traffic_daily',
  violations: readonly Violation[],
): Promise<void> {
  let sent = 0;
  for (const { panelUuid, values } of violations.toSorted((a, b) => b.bytes - a.bytes)) {
    if (sent === MESSAGES_PER_RUN) break;
    const isSent = await inTransaction(app, async (t) => {
      const chat = adminChat(t, 'SUSPICIOUS_NOTIFICATIONS_TOPIC_ID');
      if (chat === null) return false;
      const now = t.clock.now();
      const cooldownMs = Math.min(t.settings.get('TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES') * MINUTE_MS, MAX_COOLDOWN_MS);
      if (!(await claimAlarm(t.db, panelUuid, now, addMs(now, -cooldownMs)))) return false;
      const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, values);
      await sendMessage(t, { ...chat, html }, { startAfter: addMs(now, sent * PAUSE_MS) });
      return true;
    });
    if (isSent) sent += 1;
  }
  if (violations.length > 0) app.log.warn({ violations: violations.length, sent }, 'traffic check: users above the threshold');
}
