import type { App } from '../../../core/app.ts';
import { deleteLostAttempts } from './attempt-repo.ts';

/**
 * Before the attempts of two accounts become those of one: of a round that both have played the winning attempt stays, by which people hand
 * over a prize of the type `custom`. In the transaction of the merge.
 */
export function keepContestWins(t: App, secondaryId: number, primaryId: number): Promise<void> {
  return deleteLostAttempts(t.db, primaryId, secondaryId);
}
