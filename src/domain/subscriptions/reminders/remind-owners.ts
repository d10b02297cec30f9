import type { App } from '../../../core/app.ts';
import { DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { SUBSCRIPTION_EXPIRING } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import { dayOf } from '../purchase/notify-sale.ts';
import { readReminderTuning } from './reminder-tuning.ts';
import { type DueReminder, listDue, type Reminded, type ReminderTerms, recordReminders } from './repo.ts';
import { dayAfterEnd, trialWarning, warningsBeforeEnd } from './rules.ts';

/** Messages queued a transaction. */
const BATCH = 100;

type Notify = (t: App, reminded: Reminded) => Promise<void>;

/**
 * Job `subscriptions.remind`: notifies owners that a subscription or a trial is about to end, and a day after the end that it has ended
 * (spec 02 section 13). The record and the message are one transaction; a sale deletes the records. Does nothing while notifications to
 * users are switched off, and skips owners who have switched off these reminders (spec 05 section 9.1).
 * @returns how many owners were notified
 */
export async function remindOwners(app: App): Promise<number> {
  if (!app.settings.get('ENABLE_NOTIFICATIONS')) return 0;
  const now = app.clock.now();
  const warnings = warningsBeforeEnd(app.settings.get('AUTOPAY_WARNING_DAYS'), now);
  let total = warnings ? await remindAll(app, warnings, notifyEnding) : 0;
  total += await remindAll(app, trialWarning(now), notifyTrialEnding);
  if ((await readReminderTuning(app)).dayAfterEnd.enabled) {
    total += await remindAll(app, dayAfterEnd(now), (t, owner) => notifyOwner(t, owner, 'subscription_ended', {}));
  }
  return total;
}

/** Each page starts after the last one, whatever the result: a round reads no subscription twice. */
async function remindAll(app: App, terms: ReminderTerms, notify: Notify): Promise<number> {
  let total = 0;
  for (let after: DueReminder | null = null; ; ) {
    const page: DueReminder[] = await listDue(app.db, terms, after, BATCH);
    const ids = page.map(({ id }) => id);
    if (ids.length > 0) total += await remindPage(app, terms, ids, notify);
    if (page.length < BATCH) return total;
    after = page.at(-1)!;
  }
}

/** All in one transaction; when that fails, each in its own, so that only the one that fails waits for the next round. */
async function remindPage(app: App, terms: ReminderTerms, ids: readonly number[], notify: Notify): Promise<number> {
  try {
    return await inTransaction(app, async (t) => {
      const reminded = await recordReminders(t.db, terms, ids, t.clock.now());
      for (const owner of reminded) await notify(t, owner);
      return reminded.length;
    });
  } catch (error) {
    const { notificationType } = terms;
    if (ids.length === 1) {
      app.log.warn({ err: error, subscriptionId: ids[0], notificationType }, 'an owner could not be reminded');
      return 0;
    }
    let total = 0;
    for (const id of ids) total += await remindPage(app, terms, [id], notify);
    return total;
  }
}

async function notifyEnding(t: App, owner: Reminded): Promise<void> {
  const days_left = Math.ceil((owner.endDate.getTime() - t.clock.now().getTime()) / DAY_MS);
  const payload = { days_left, expires_at: owner.endDate.toISOString() };
  await t.events.emit(SUBSCRIPTION_EXPIRING, payload, { audience: 'user', userId: owner.userId });
  await notifyOwner(t, owner, 'subscription_expiring', { days_left, expires_at: dayOf(owner.endDate) });
}

async function notifyTrialEnding(t: App, owner: Reminded): Promise<void> {
  const payload = { days_left: 0, expires_at: owner.endDate.toISOString() };
  await t.events.emit(SUBSCRIPTION_EXPIRING, payload, { audience: 'user', userId: owner.userId });
  await notifyOwner(t, owner, 'trial_ending', {});
}
