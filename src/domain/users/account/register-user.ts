import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { createUser } from '../../identity/create-user.ts';
import { lockPromoGroupForShare } from '../../promo-groups/memberships.ts';
import type { UserView } from '../types.ts';
import { promoGroupNotFound } from './errors.ts';
import { readUserById } from './read-user.ts';
import { lockReferrer } from './repo.ts';

export const referrerNotFound = refusal('referrer_not_found', 400, 'Referrer not found');
export const userExists = refusal('user_exists', 400, 'User with this messenger_id already exists');

export interface RegistrationRequest {
  messengerId?: number | null | undefined;
  username?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  language: string;
  referredById?: number | null | undefined;
  promoGroupId?: number | null | undefined;
}

/**
 * Creates a user for an outside system, with `user.created` (spec 01 section 10). References are checked before anything is
 * stored; of two concurrent requests for one messenger id, one creates the user and the other is refused.
 * @throws AppError 400 'User with this messenger_id already exists' | 'Promo group not found' | 'Referrer not found'
 */
export async function registerUser(app: App, _actor: TokenActor, request: RegistrationRequest): Promise<UserView> {
  const { messengerId = null, username = null, firstName = null, lastName = null, language } = request;
  const { referredById = null, promoGroupId = null } = request;
  return inTransaction(app, async (t) => {
    if (referredById !== null && !(await lockReferrer(t.db, referredById))) throw referrerNotFound();
    if (promoGroupId !== null && !(await lockPromoGroupForShare(t, promoGroupId))) throw promoGroupNotFound();
    const made = await createUser(t, {
      ...{ messengerId, username, firstName, lastName, language, referredById, promoGroupId },
      authType: 'messenger',
      email: null,
      emailVerified: false,
      passwordHash: null,
    });
    if (!made.isNew) throw userExists();
    return readUserById(t, made.id);
  });
}
