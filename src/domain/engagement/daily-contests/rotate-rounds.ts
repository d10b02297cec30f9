import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { areContestsEnabled } from '../contests-enabled.ts';
import { announceRound } from './announce-round.ts';
import { drawRound } from './games/known-games.ts';
import { closeRounds, insertRound, listIdleTemplates, lockLiveRounds, lockTemplate } from './repo.ts';
import { openSlots, type Slot } from './rules.ts';
import type { ContestTemplate } from './types.ts';

/**
 * The scheduled job: closes rounds that are over or have all their winners, and starts what the schedules want while contests are enabled
 * (spec 04 section 10.3). Any number of runs at once start each round once.
 */
export async function rotateRounds(app: App): Promise<void> {
  const now = app.clock.now();
  await closeRounds(app.db, now);
  if (!areContestsEnabled(app)) return;
  const timeZone = app.settings.get('TIMEZONE');
  for (const template of await listIdleTemplates(app.db, now)) {
    if (openSlots(template, now, timeZone).length === 0) continue;
    try {
      await inTransaction(app, (t) => startScheduled(t, template.id, now, timeZone));
    } catch (error) {
      // The others are started whatever is wrong with this one.
      // Any failure: of one round; the next rotation repeats it.
      app.log.error({ err: error, templateId: template.id }, 'a round of a contest could not be started');
    }
  }
}

/** What was read before the lock may have changed: all is decided again under it. */
async function startScheduled(t: App, templateId: number, now: Date, timeZone: string): Promise<void> {
  const template = await lockTemplate(t.db, templateId);
  if (!template?.isEnabled || (await lockLiveRounds(t.db, templateId, now)).length > 0) return;
  for (const slot of openSlots(template, now, timeZone)) {
    const roundId = await startInSlot(t, template, slot, now);
    if (roundId === null) continue;
    await announceRound(t, roundId);
    return;
  }
}

/** @returns null when the slot had its round: it is not opened again (spec 04 section 10.3) */
function startInSlot(t: App, template: ContestTemplate, slot: Slot, now: Date): Promise<number | null> {
  const round = {
    templateId: template.id,
    ...slot,
    payload: drawRound(template.slug, template.payload, t.random),
    isScheduled: true,
    maxWinners: template.maxWinners,
    attemptsPerUser: template.attemptsPerUser,
  };
  return insertRound(t.db, round, now);
}
