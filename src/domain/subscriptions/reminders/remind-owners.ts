import type { App } from '../../../core/app.ts';
import { DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { SUBSCRIPTION_EXPIRING } from '../events.ts';
import { dayOf } from '../purchase/notify-sale.ts';
import { tellOwner } from '../tell-owner.ts';
import { readReminderTuning } from './reminder-tuning.ts';
import { type DueReminder, listDue, noteReminders, type Reminded, type ReminderTerms } from './repo.ts';
import { dayAfterEnd, trialWarning, warningsBeforeEnd } from './rules.ts';

/** Messages queued a transaction. */
const BATCH = 100;

type Tell = (t: App, reminded: Reminded) => Promise<void>;

/**
 * Job `subscriptions.remind`: says that a subscription or a trial is about to end, and a day later that it has ended (spec 02
 * section 13). The mark and the message are one transaction; a sale forgets the marks. Nothing while notices to users are off, and
 * nothing to owners who want no such reminders (spec 05 section 9.1).
 * @returns how many owners were told
 */
export async function remindOwners(app: App): Promise<number> {
  if (!app.settings.get('ENABLE_NOTIFICATIONS')) return 0;
  const now = app.clock.now();
  const warnings = warningsBeforeEnd(app.settings.get('AUTOPAY_WARNING_DAYS'), now);
  let total = warnings ? await tellAll(app, warnings, tellEnding) : 0;
  total += await tellAll(app, trialWarning(now), tellTrialEnding);
  if ((await readReminderTuning(app)).dayAfterEnd.enabled) {
    total += await tellAll(app, dayAfterEnd(now), (t, owner) => tellOwner(t, owner, 'subscription_ended', {}));
  }
  return total;
}

/** Goes on behind the last page, whatever became of it: a round looks at nothing twice. */
async function tellAll(app: App, terms: ReminderTerms, tell: Tell): Promise<number> {
  let total = 0;
  for (let after: DueReminder | null = null; ; ) {
    const page: DueReminder[] = await listDue(app.db, terms, after, BATCH);
    const ids = page.map(({ id }) => id);
    if (ids.length > 0) total += await tellPage(app, terms, ids, tell);
    if (page.length < BATCH) return total;
    after = page.at(-1)!;
  }
}

/** All of them in one transaction; when one makes that fail, each in its own, so that this one alone waits for the next round. */
async function tellPage(app: App, terms: ReminderTerms, ids: readonly number[], tell: Tell): Promise<number> {
  try {
    return await inTransaction(app, async (t) => {
      const reminded = await noteReminders(t.db, terms, ids, t.clock.now());
      for (const owner of reminded) await tell(t, owner);
      return reminded.length;
    });
  } catch (error) {
    const { notificationType } = terms;
    if (ids.length === 1) {
      app.log.warn({ err: error, subscriptionId: ids[0], notificationType }, 'an owner could not be reminded');
      return 0;
    }
    let total = 0;
    for (const id of ids) total += await tellPage(app, terms, [id], tell);
    return total;
  }
}

async function tellEnding(t: App, owner: Reminded): Promise<void> {
  const days_left = Math.ceil((owner.endDate.getTime() - t.clock.now().getTime()) / DAY_MS);
  const payload = { days_left, expires_at: owner.endDate.toISOString() };
  await t.events.emit(SUBSCRIPTION_EXPIRING, payload, { audience: 'user', userId: owner.userId });
  await tellOwner(t, owner, 'subscription_expiring', { days_left, expires_at: dayOf(owner.endDate) });
}

async function tellTrialEnding(t: App, owner: Reminded): Promise<void> {
  const payload = { days_left: 0, expires_at: owner.endDate.toISOString() };
  await t.events.emit(SUBSCRIPTION_EXPIRING, payload, { audience: 'user', userId: owner.userId });
  await tellOwner(t, owner, 'trial_ending', {});
}
