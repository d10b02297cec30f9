import { z } from 'zod';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { defineEvent, type EventsOf } from '../../../core/events/define-event.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { readState, writeState } from '../../../core/service-state.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { highestEntryId, type LowBalance, listLowBalances, recordNotice } from './repo.ts';

const STATE_KEY = 'users:low-balance';
/** Entries read by one statement. */
const STEP = 20_000;
/**
 * An entry gets its id before it commits. No transaction lasts this long, so after this time no entry up to an id that was seen can appear
 * any more; until then the entries are read again by each run.
 */
const SETTLE_MS = MINUTE_MS;

/** How far entries are read, which all instances share. */
interface Progress {
  /** Every entry up to here was read when it was settled. */
  throughId: number;
  /** The highest id at `seenAt`, ISO 8601. */
  seenId: number;
  seenAt: string;
}

export const LOW_BALANCE_EVENTS = [
  defineEvent(
    'notification.balance_low',
    z.object({
      balance_kopeks: z.int().describe('Balance in kopeks.'),
      balance_rubles: z.number().describe('The same in rubles.'),
      formatted_balance: z.string().describe('The same as text.'),
    }),
    {
      audience: 'user',
      description: 'The balance is below the threshold of the user, for a user without a messenger.',
      example: { balance_kopeks: 300, balance_rubles: 3, formatted_balance: '3 ₽' },
    },
  ),
] as const;

declare module '../../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof LOW_BALANCE_EVENTS> {}
}

/**
 * Job `users.notify-low-balances`: notifies owners whose balance a debit has taken below their threshold, once for each such debit and only
 * while it is still there (spec 05 section 9.1). It reads new entries of the ledger, so that no balance change does more for it. The first run of
 * an installation begins with the entries that follow. While notifications to users are off, entries pass without a notice.
 * @returns how many owners were notified
 */
export async function notifyLowBalances(app: App, signal?: AbortSignal): Promise<number> {
  const now = app.clock.now();
  const highest = await highestEntryId(app.db);
  const progress = await readState<Progress>(app.db, STATE_KEY);
  if (progress === null) {
    await writeState(app.db, STATE_KEY, { throughId: highest, seenId: highest, seenAt: now.toISOString() });
    return 0;
  }
  let notified = 0;
  if (app.settings.get('ENABLE_NOTIFICATIONS')) {
    for (let after = progress.throughId; after < highest; after += STEP) {
      if (signal?.aborted) return notified;
      const found = await listLowBalances(app.db, { after, through: Math.min(highest, after + STEP) });
      for (const low of found) if (await notifyOwner(app, low)) notified++;
    }
  }
  if (now.getTime() - new Date(progress.seenAt).getTime() >= SETTLE_MS) {
    await writeState(app.db, STATE_KEY, { throughId: progress.seenId, seenId: highest, seenAt: now.toISOString() });
  }
  if (notified > 0) app.log.info({ count: notified }, 'owners of low balances notified');
  return notified;
}

/** In the messenger, else on the sockets; there is no mail of this kind. The record and the message are one transaction. */
function notifyOwner(app: App, low: LowBalance): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const owner = await recordNotice(t.db, low, t.clock.now());
    if (owner === null) return false;
    const { userId, messengerId, language, balanceKopeks } = owner;
    const formatted_balance = formatPrice(balanceKopeks, false);
    if (messengerId !== null) {
      const html = htmlText(language, 'messages.balance_low', { formatted_balance });
      const buttons = [[{ text: text(language, 'messages.button_balance'), callbackData: 'menu_balance' }]];
      await sendMessage(t, { messengerId, html, buttons });
    } else {
      const context = { balance_kopeks: balanceKopeks, balance_rubles: rublesOf(balanceKopeks), formatted_balance };
      await t.events.emit('notification.balance_low', context, { audience: 'user', userId });
    }
    return true;
  });
}
