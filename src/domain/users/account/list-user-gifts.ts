import type { App } from '../../../core/app.ts';
import { requireUser } from '../../identity/require-user.ts';
import { fullName } from '../../identity/rules.ts';
import { type GiftRow, listGifts } from './gifts-repo.ts';

const MAX_GIFTS = 200;

/** A gift with who bought and who received it; each null where the user is unknown. */
export interface GiftInfo extends Omit<GiftRow, 'buyer' | 'receiver'> {
  buyerUserId: number | null;
  buyerUsername: string | null;
  buyerFullName: string | null;
  receiverUserId: number | null;
  receiverUsername: string | null;
  receiverFullName: string | null;
}

export interface UserGifts {
  sent: GiftInfo[];
  received: GiftInfo[];
  sentTotal: number;
  receivedTotal: number;
}

/** The newest 200 gifts bought and got by a user, with true totals (spec 01 section 11.1). @throws AppError 404 'User not found' */
export async function listUserGifts(app: App, userId: number): Promise<UserGifts> {
  const user = await requireUser(app, userId);
  const [sent, received] = await Promise.all([
    listGifts(app.db, user.id, 'buyer_user_id', MAX_GIFTS),
    listGifts(app.db, user.id, 'user_id', MAX_GIFTS),
  ]);
  return {
    sent: sent.gifts.map(toGift),
    received: received.gifts.map(toGift),
    sentTotal: sent.total,
    receivedTotal: received.total,
  };
}

function toGift({ buyer, receiver, ...gift }: GiftRow): GiftInfo {
  return {
    ...gift,
    buyerUserId: buyer?.id ?? null,
    buyerUsername: buyer?.username ?? null,
    buyerFullName: buyer && fullName(buyer),
    receiverUserId: receiver?.id ?? null,
    receiverUsername: receiver?.username ?? null,
    receiverFullName: receiver && fullName(receiver),
  };
}
