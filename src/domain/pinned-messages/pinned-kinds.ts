import type { App } from '../../core/app.ts';
import { isAfterUnfinished } from '../mass-sends/control-sends.ts';
import type { MassSend, SendKind } from '../mass-sends/types.ts';
import { deliverPinned, senderOf, unpin } from './deliver.ts';
import { findDelivery } from './delivery-repo.ts';
import { PINNED_PROGRESS } from './events.ts';
import { findMessage } from './repo.ts';

/** What changes the pins of all chats: one at a time, so that the last one decides. */
export const PIN_KINDS = ['pinned', 'unpin'] as const;

/** A pinned message to every active user, whatever they have switched off (spec 05 section 4). */
export const pinnedKind: SendKind = {
  recipients: () => "u.status = 'active' AND u.messenger_id IS NOT NULL",
  // The message is in the chat and stored; what remains is to pin it.
  repeatable: 'EXISTS (SELECT 1 FROM pinned_deliveries d WHERE d.user_id = r.user_id AND d.send_id = r.send_id)',
  open: async (app, send) => {
    if (await isAfterUnfinished(app, PIN_KINDS, send)) return 'later';
    const message = await findMessage(app.db, send.sourceId);
    if (!message || !app.ports.messenger.isConfigured()) return null;
    const sent = { message, send: senderOf(app, message, true), occasion: { sendId: send.id } };
    return async ({ userId, messengerId }) =>
      messengerId === null ? { state: 'failed' } : deliverPinned(app, { userId, chatId: messengerId }, sent);
  },
  announce: announceProgress,
};

/** Unpins our own message, in each chat that has one pinned; other pins stay. */
export const unpinKind: SendKind = {
  recipients: () => "u.status = 'active' AND EXISTS (SELECT 1 FROM pinned_deliveries d WHERE d.user_id = u.id AND d.is_pinned)",
  repeatable: 'true',
  open: async (app, send) => {
    if (await isAfterUnfinished(app, PIN_KINDS, send)) return 'later';
    if (!app.ports.messenger.isConfigured()) return null;
    return async ({ userId }) => {
      const delivery = await findDelivery(app.db, userId);
      return delivery?.isPinned ? unpin(app, delivery) : { state: 'sent', messageId: delivery?.messageId ?? null };
    };
  },
  announce: announceProgress,
};

/** To the sockets of administrators. */
function announceProgress(
  app: App,
  { kind, sourceId, state, total, sent, failed, blocked, unconfirmed }: MassSend,
): Promise<void> {
  const event = {
    message_id: sourceId,
    action: kind === 'unpin' ? ('unpin' as const) : ('broadcast' as const),
    status: state,
    total_count: total,
    sent_count: sent,
    failed_count: failed + blocked + unconfirmed,
  };
  return app.events.emit(PINNED_PROGRESS, event, { audience: 'staff' });
}
