import type { App } from '../../../core/app.ts';
import { addDays, addMs, HOUR_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { recordMonitoring } from '../../monitoring/monitoring-log.ts';
import { type ReminderTuning, readReminderTuning } from '../../subscriptions/reminders/remind-owners.ts';
import { renderMessage } from './broadcast-offers.ts';
import { makeWinBackOffers, type WinBackWave } from './expiry-repo.ts';

/** Offers and queued messages per transaction. */
const BATCH = 100;

/**
 * Offers a discount 2 to 4 days after the end of a paid subscription, and a larger one on the configured day (job `promo.win-back`,
 * spec 04 section 15). Once for each subscription and wave until the next sale; the offer, its mark and its message are one
 * transaction, so that no offer is made without its message. Only with a messenger, and while notices to users are on.
 * @returns offers made
 */
export async function offerWinBacks(app: App): Promise<number> {
  if (!app.settings.get('ENABLE_NOTIFICATIONS') || !app.ports.messenger.isConfigured()) return 0;
  const tuning = await readReminderTuning(app);
  const made = { wave2: 0, wave3: 0 };
  for (const wave of wavesOf(tuning)) {
    for (;;) {
      const offers = await inTransaction(app, (t) => offerSome(t, wave));
      made[wave.name] += offers;
      if (offers < BATCH) break;
    }
  }
  await recordMonitoring(app, 'expired_followups_sent', { day1: 0, ...made });
  return made.wave2 + made.wave3;
}

interface Wave {
  name: 'wave2' | 'wave3';
  notificationType: string;
  discountPercent: number;
  validHours: number;
  /** Days since the end: at least the first, less than the second. */
  fromDays: number;
  untilDays: number;
}

function wavesOf({ secondWave, thirdWave }: ReminderTuning): Wave[] {
  const { triggerDays } = thirdWave;
  return [
    ...(secondWave.enabled ? [{ ...secondWave, ...waveNamed('wave2'), fromDays: 2, untilDays: 4 }] : []),
    ...(thirdWave.enabled ? [{ ...thirdWave, ...waveNamed('wave3'), fromDays: triggerDays, untilDays: triggerDays + 1 }] : []),
  ];
}

const waveNamed = (name: Wave['name']) => ({ name, notificationType: `expired_discount_${name}` });

async function offerSome(t: App, { notificationType, discountPercent, validHours, fromDays, untilDays }: Wave): Promise<number> {
  const now = t.clock.now();
  const wave: WinBackWave = {
    notificationType,
    discountPercent,
    endedAfter: addDays(now, -untilDays),
    endedUntil: addDays(now, -fromDays),
    expiresAt: addMs(now, validHours * HOUR_MS),
  };
  const terms = {
    notificationType,
    effectType: 'percent_discount',
    discountPercent,
    bonusAmountKopeks: 0,
    validHours,
    extraData: {},
  };
  const made = await makeWinBackOffers(t.db, wave, now, BATCH);
  for (const { offerId, messengerId, language, isWanted } of made) {
    if (messengerId === null || !isWanted) continue;
    const { html, buttonsFor } = await renderMessage(t, {}, terms, language);
    await sendMessage(t, { messengerId, html, buttons: buttonsFor(offerId) });
  }
  return made.length;
}
