import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { purchaseNotFound } from '../purchases/errors.ts';
import { findByCode, readSurroundings } from '../purchases/repo.ts';
import { isCode, isCodeOnly } from '../purchases/rules.ts';
import type { GuestPurchase } from '../purchases/types.ts';
import { listBought, listReceived, listWaiting } from './repo.ts';
import { readGiftCode } from './rules.ts';

/** Lists of gifts, newest first, at most 100 (spec 03 section 9). Each is one statement over an index of the user. */

/** Gifts that wait for the consent of the user. The sender is named as the buyer's contact. */
export async function listPendingGifts(app: App, actor: UserActor) {
  const rows = await listWaiting(app.db, actor.userId);
  return rows.map(({ contactValue, ...gift }) => ({ ...gift, sender: contactValue }));
}

/** Gifts that the user bought. */
export async function listSentGifts(app: App, actor: UserActor) {
  const rows = await listBought(app.db, actor.userId);
  return rows.map(({ activatedBy, deviceLimit, ...gift }) => ({
    ...gift,
    deviceLimit: deviceLimit ?? 1,
    activatedBy: activatedBy && `@${activatedBy}`,
  }));
}

/** Gifts that the user was given, in any state. */
export async function listReceivedGifts(app: App, actor: UserActor) {
  const rows = await listReceived(app.db, actor.userId);
  return rows.map(({ buyerUsername, contactValue, deviceLimit, ...gift }) => ({
    ...gift,
    deviceLimit: deviceLimit ?? 1,
    sender: buyerUsername === null ? contactValue : `@${buyerUsername}`,
  }));
}

export interface GiftStatus extends Pick<GuestPurchase, 'status' | 'giftMessage' | 'periodDays' | 'recipientWarning'> {
  isCodeOnly: boolean;
  /** Of a gift that is only a code; else null. */
  code: string | null;
  recipient: string | null;
  tariffName: string | null;
}

/**
 * The state of a gift that the user bought.
 * @param entered the token, or at least its first 12 characters, with or without `GIFT-` (spec 10 U1)
 * @throws AppError 404 'Purchase not found', also for the gift of another user
 */
export async function readSentGift(app: App, actor: UserActor, entered: string): Promise<GiftStatus> {
  const code = readGiftCode(entered);
  const gift = isCode(code) ? await findByCode(app.db, code) : null;
  if (!gift?.isGift || gift.buyerUserId !== actor.userId) throw purchaseNotFound();
  const { tariffName } = await readSurroundings(app.db, gift.id);
  const { status, giftMessage, periodDays, recipientWarning, recipient } = gift;
  const isOnlyCode = isCodeOnly(gift);
  return {
    ...{ status, giftMessage, periodDays, recipientWarning, tariffName },
    isCodeOnly: isOnlyCode,
    code: isOnlyCode ? gift.code : null,
    recipient: recipient?.value ?? null,
  };
}
