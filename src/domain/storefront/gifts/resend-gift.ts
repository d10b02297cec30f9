import { type Actor, actorName } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isRowId } from '../../../core/row-id.ts';
import { recordCommand } from '../../access/record-command.ts';
import { purchaseNotFound } from '../purchases/errors.ts';
import { notifyRecipient } from '../purchases/notify-recipient.ts';
import { findPurchase, readSurroundings } from '../purchases/repo.ts';
import type { Contact } from '../purchases/types.ts';
import { notResendable } from './errors.ts';

/**
 * Sends the notice of a gift to its recipient again, by mail or in the messenger, with the button or link to activate it where it waits for
 * that. A gift that is only a code has none: its buyer passes the code on.
 * @returns to whom
 * @throws AppError 404 'Purchase not found' | 409 there is no notice to send
 */
export async function resendGift(app: App, actor: Actor, id: number): Promise<Contact> {
  return inTransaction(app, async (t) => {
    const gift = isRowId(id) ? await findPurchase(t.db, id) : null;
    if (!gift?.isGift) throw purchaseNotFound();
    const isWaiting = gift.status === 'pending_activation' && gift.grantedAt === null;
    if (!gift.recipient || (!isWaiting && gift.status !== 'delivered')) throw notResendable();
    const { tariffName } = await readSurroundings(t.db, id);
    await notifyRecipient(t, gift, isWaiting ? 'waiting' : 'delivered', tariffName ?? '');
    const facts = { command: `gifts resend ${id}`, permission: 'gifts:resend', resourceId: String(id) };
    await recordCommand(t, actorName(actor), { ...facts, before: null, after: null });
    return gift.recipient;
  });
}
