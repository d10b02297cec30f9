import type { App } from '../../core/app.ts';
import { removePanelUser } from '../provisioning/panel-user.ts';
import { isPanelError } from '../provisioning/ports.ts';
import { findAbandonedPanelUser, savePanelState } from './repo.ts';

/**
 * Removes the panel user that has no owner after a merge, after its commit, and records the result in the merge's row
 * (spec 01 H17).
 * @throws PanelError when the panel gave no usable answer; the queue retries
 */
export async function removeAbandonedPanelUser(app: App, { mergeId }: { mergeId: number }): Promise<void> {
  const panelUuid = await findAbandonedPanelUser(app.db, mergeId);
  if (panelUuid === null) return;
  try {
    await removePanelUser(app, panelUuid);
  } catch (error) {
    await savePanelState(app.db, mergeId, 'failed', isPanelError(error) ? error.message : 'Unexpected failure');
    throw error;
  }
  await savePanelState(app.db, mergeId, 'done', null);
}
