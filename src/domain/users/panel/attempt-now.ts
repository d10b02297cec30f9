import type { App } from '../../../core/app.ts';
import { isPanelError } from '../../provisioning/ports.ts';
import { pushSubscription } from '../../provisioning/push-subscription.ts';
import { removePanelUser } from '../../provisioning/remove-panel-user.ts';
import type { RemovalMode } from '../../provisioning/request-provisioning.ts';

/** Result at the panel by the time of the answer; the queue retries where it is not done (spec 01 H28). */
export interface PanelAttempt {
  isDone: boolean;
  /** Why the first try failed, safe to show. */
  error: string | null;
}

export const NO_PANEL_SIDE: PanelAttempt = { isDone: false, error: null };

/** Tries the push that a committed transaction has queued, so that the answer to an administrator says whether the panel accepted it. */
export function attemptPush(app: App, subscriptionId: number): Promise<PanelAttempt> {
  return attempt(app, async () => {
    const outcome = await pushSubscription(app, subscriptionId);
    if (outcome === 'failed') return { isDone: false, error: 'The panel refused the change' };
    return { isDone: outcome !== 'busy', error: null };
  });
}

/** Tries the removal that a committed transaction has queued. */
export function attemptRemoval(app: App, panelUuid: string, mode?: RemovalMode): Promise<PanelAttempt> {
  return attempt(app, async () => {
    try {
      await removePanelUser(app, panelUuid, mode);
    } catch (error) {
      // The queue may have removed the same user at the same time, so that the panel refused this call (spec 08 C7).
      if ((await app.ports.panel.findByUuid(panelUuid)) !== null) throw error;
    }
    return { isDone: true, error: null };
  });
}

async function attempt(app: App, run: () => Promise<PanelAttempt>): Promise<PanelAttempt> {
  try {
    return await run();
  } catch (error) {
    // The change is committed; the queue retries what fails here.
    if (!isPanelError(error)) app.log.error({ err: error }, 'admin users: the panel was not reached');
    return { isDone: false, error: isPanelError(error) ? error.message : 'The panel was not reached' };
  }
}
