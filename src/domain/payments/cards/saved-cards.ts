import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { cardNotFound, recurrentOff } from '../errors.ts';
import { deactivateCard, listActiveCards, type SavedCard } from './repo.ts';

/** The user's linked cards, newest first; none while recurrent payments are off (spec 03 section 3). */
export async function listSavedCards(app: App, actor: UserActor): Promise<{ cards: SavedCard[]; recurrentEnabled: boolean }> {
  if (!app.settings.get('YOOKASSA_RECURRENT_ENABLED')) return { cards: [], recurrentEnabled: false };
  return { cards: await listActiveCards(app.db, actor.userId), recurrentEnabled: true };
}

/** Unlinks a card; its row stays, so that a later notification of the provider does not add it again. @throws AppError 400 | 404 */
export async function unlinkSavedCard(app: App, actor: UserActor, cardId: number): Promise<void> {
  if (!app.settings.get('YOOKASSA_RECURRENT_ENABLED')) throw recurrentOff();
  if (!(await deactivateCard(app.db, actor.userId, cardId, app.clock.now()))) throw cardNotFound();
}
