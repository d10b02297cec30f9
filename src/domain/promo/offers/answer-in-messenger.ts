import type { App } from '../../../core/app.ts';
import { isAppError } from '../../../core/errors.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import type { MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, htmlText, type TextKey } from '../../messaging/texts.ts';
import { claimOffer } from './claim-offer.ts';
import { CLAIM_BUTTON, CLOSE_BUTTON } from './offer-message.ts';

/** A pressed button under an offer. */
export interface OfferPress {
  queryId: string;
  messengerId: number;
  /** The message with the button; null where the messenger does not name it. */
  chatId: number | null;
  messageId: number | null;
  data: string;
}

/** Texts for refusals; any other refusal means that the offer is no longer available. */
const REASONS: Readonly<Record<string, TextKey>> = {
  offer_already_claimed: 'promo.offer_used',
  offer_no_subscription: 'promo.offer_needs_subscription',
  offer_already_connected: 'promo.offer_connected',
};

const CLAIM = new RegExp(`^${CLAIM_BUTTON}(\\d{1,10})$`);

/** Queues a pressed button under an offer; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveOfferUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (update.kind !== 'callback' || !(CLAIM.test(update.data) || update.data === CLOSE_BUTTON)) return;
  const { queryId, fromMessengerId: messengerId, chatId, messageId, data } = update;
  await app.jobs.send('promo.offer-press', { queryId, messengerId, chatId, messageId, data });
}

/**
 * Handles a queued press (job `promo.offer-press`): claims the offer by the rules of the cabinet, or deletes the message (spec 04
 * section 9.4). May run any number of times; the offer is claimed once.
 */
export async function handleOfferPress(app: App, press: OfferPress): Promise<void> {
  const { messenger } = app.ports;
  const quietly = (done: Promise<unknown>) => done.catch((error) => app.log.debug({ err: error }, 'a press was not answered'));
  // Only ends the button's progress indicator. The messenger refuses a query that is too old, which changes nothing else.
  await quietly(messenger.answerCallback(press.queryId));
  if (press.data === CLOSE_BUTTON) {
    if (press.chatId !== null && press.messageId !== null) await quietly(messenger.deleteMessage(press.chatId, press.messageId));
    return;
  }
  const offerId = Number(CLAIM.exec(press.data)?.[1]);
  const user = await findUserByMessengerId(app, press.messengerId);
  if (user?.status !== 'active') return;
  await sendMessage(app, { messengerId: press.messengerId, html: await claimText(app, user.id, offerId, user.language) });
}

async function claimText(app: App, userId: number, offerId: number, language: string): Promise<string> {
  try {
    return escapeHtml((await claimOffer(app, { kind: 'user', userId }, offerId)).message);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return htmlText(language, REASONS[error.code] ?? 'promo.offer_gone');
  }
}
