import type { App } from '../../../core/app.ts';
import { requireUser } from '../../identity/require-user.ts';
import { listGifts } from './gifts-repo.ts';
import type { GiftInfo } from './types.ts';

const MAX_GIFTS = 200;

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
  return { sent: sent.gifts, received: received.gifts, sentTotal: sent.total, receivedTotal: received.total };
}
