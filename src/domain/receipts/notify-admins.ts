import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, type TextParams, text } from '../messaging/texts.ts';
import type { ReceiptFailure } from './ports.ts';
import { countWaiting } from './repo.ts';
import type { Receipt } from './types.ts';

/** Receipts wait because the service cannot be used. In the caller's transaction, like all notices of this file. */
export async function notifyFailing(t: App, failure: ReceiptFailure): Promise<void> {
  const waiting = await countWaiting(t.db);
  const oldest = waiting.map((group) => group.oldest).sort((one, other) => one.getTime() - other.getTime())[0];
  await sendToAdmins(t, 'receipts.queue_failing', {
    reason: text(t.settings.get('DEFAULT_LANGUAGE'), `receipts.failure_${failure}`),
    waiting: waiting.reduce((sum, { total }) => sum + total, 0),
    oldest: oldest?.toISOString() ?? '—',
  });
}

/** After a failure every receipt has been made. */
export function notifyDrained(t: App): Promise<void> {
  return sendToAdmins(t, 'receipts.queue_drained', {});
}

/** A receipt needs a person: the service refuses it, or has it more than once. */
export async function alertReceipt(t: App, receipt: Receipt, problem: 'rejected' | 'duplicate', detail: string): Promise<void> {
  const { id, paymentId, mark } = receipt;
  t.log.error({ alarm: `receipt_${problem}`, receiptId: id, paymentId, mark, detail }, 'a receipt needs manual action');
  await sendToAdmins(t, `receipts.${problem}`, {
    ...{ receipt_id: id, payment_id: paymentId, name: receipt.name, detail },
    amount: formatPrice(receipt.amountKopeks, false),
  });
}

async function sendToAdmins(t: App, key: TextKey, params: TextParams): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_NALOG_TOPIC_ID');
  if (chat !== null) await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, params) });
}
