import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { readEvents } from '../../activity/record-event.ts';
import { findUserById } from '../../identity/find-user.ts';
import { type TextKey, text } from '../../messaging/texts.ts';

/** Events of the feed that concern their user, with the text `messages.history_<type>`. Others are for the administrators. */
const TYPES = [
  ...(['activation', 'purchase', 'renewal', 'balance_topup', 'promocode_activation', 'promo_group_change'] as const),
  'autopay_failed',
] as const;

export interface HistoryItem {
  id: number;
  type: string;
  /** A sentence in the language of the user. */
  message: string;
  /** Kopeks. */
  amountKopeks: number | null;
  /** `500 ₽`. */
  formattedAmount: string | null;
  createdAt: Date;
}

/** What happened on the user's account, newest first, from the feed of the service (spec 05 section 9.1). */
export async function listMyHistory(
  app: App,
  actor: UserActor,
  page: { limit: number; offset: number },
): Promise<{ notifications: HistoryItem[]; total: number }> {
  const { items, total } = await readEvents(app, { ...page, userId: actor.userId, eventType: TYPES });
  const language = items.length === 0 ? null : ((await findUserById(app, actor.userId))?.language ?? null);
  const notifications = items.map(({ id, eventType: type, amountKopeks, occurredAt: createdAt }) => ({
    ...{ id, type, amountKopeks, createdAt },
    message: text(language, `messages.history_${type}` as TextKey),
    formattedAmount: amountKopeks === null ? null : formatPrice(amountKopeks, false),
  }));
  return { notifications, total };
}
