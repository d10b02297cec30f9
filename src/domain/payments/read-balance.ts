import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { requireUser } from '../identity/require-user.ts';

/** The user's balance in kopeks, read afresh (spec 03 section 3). @throws AppError 404 'User not found' */
export async function readBalance(app: App, actor: UserActor): Promise<number> {
  return (await requireUser(app, actor.userId)).balanceKopeks;
}
