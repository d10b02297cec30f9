import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refuse } from '../../core/errors.ts';
import { createUser } from '../identity/create-user.ts';
import { readUserById } from './read-user.ts';
import { holdPromoGroup, holdReferrer } from './repo.ts';
import type { UserView } from './types.ts';

export interface RegistrationRequest {
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  language: string;
  referredById: number | null;
  promoGroupId: number | null;
}

/**
 * Creates a user for an outside system, with `user.created` (spec 01 section 10). References are checked before anything is
 * stored; of two requests for one messenger id at once, one creates and the other is refused.
 * @throws AppError 400 'User with this messenger_id already exists' | 'Promo group not found' | 'Referrer not found'
 */
export async function registerUser(app: App, _actor: TokenActor, request: RegistrationRequest): Promise<UserView> {
  return inTransaction(app, async (t) => {
    if (request.referredById !== null && !(await holdReferrer(t.db, request.referredById))) {
      throw refuse('referrer_not_found', 400, 'Referrer not found');
    }
    if (request.promoGroupId !== null && !(await holdPromoGroup(t.db, request.promoGroupId))) {
      throw refuse('promo_group_not_found', 400, 'Promo group not found');
    }
    const made = await createUser(t, {
      ...request,
      authType: 'messenger',
      email: null,
      emailVerified: false,
      passwordHash: null,
    });
    if (!made.isNew) throw refuse('user_exists', 400, 'User with this messenger_id already exists');
    return readUserById(t, made.id);
  });
}
