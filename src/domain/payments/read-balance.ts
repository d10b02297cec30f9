import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { findUserById } from '../identity/find-user.ts';
import { userNotFound } from './errors.ts';

/** The user's balance in kopeks, read afresh (spec 03 section 3). @throws AppError 404 'User not found' */
export async function readBalance(app: App, actor: UserActor): Promise<number> {
  const user = await findUserById(app, actor.userId);
  if (!user) throw userNotFound();
  return user.balanceKopeks;
}
