import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import type { UserRecord } from '../../identity/types.ts';
import { withCryptoLink } from '../../provisioning/panel-access.ts';
import { mayAdopt, removePanelUser } from '../../provisioning/panel-user.ts';
import { isParkedPanelUser } from '../../provisioning/parked-panel-users.ts';
import { isPanelError, type PanelUser } from '../../provisioning/ports.ts';
import { pushSubscription } from '../../provisioning/push-subscription.ts';
import type { RemovalMode } from '../../provisioning/request-provisioning.ts';
import { isLinkageValid } from '../../provisioning/rules.ts';

/**
 * The panel's user of this account, read-only: by the stored uuid, else by messenger id, else by confirmed e-mail (spec 01 section 11).
 * Links nothing and unlinks nothing. An unconfirmed e-mail proves nothing and is not looked up, and a panel user that is linked to
 * another account is not returned, since it has that account's keys and paid time; nor is one of a subscription that an import kept aside.
 * @throws PanelError when the panel returns no usable answer
 */
export async function lookUpPanelUser(app: App, user: UserRecord): Promise<PanelUser | null> {
  const found = await lookUp(app, user);
  return found && withCryptoLink(app, found);
}

async function lookUp(app: App, user: UserRecord): Promise<PanelUser | null> {
  const { panel } = app.ports;
  if (user.vpnpanelUuid !== null) {
    const linked = await panel.findByUuid(user.vpnpanelUuid);
    if (linked !== null && isLinkageValid(linked, user.messengerId)) return linked;
  }
  if (user.messengerId !== null) {
    const found = await panel.findByMessengerId(user.messengerId);
    if (found !== null && !(await isParkedPanelUser(app.db, found))) return found;
  }
  if (user.email === null || !user.emailVerified) return null;
  const found = await panel.findByEmail(user.email);
  return found !== null && (await mayAdopt(app, user, found)) ? found : null;
}

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

/** Runs calls to the panel; their failures are a documented 500 (spec 01 section 11.3). @throws AppError 500 'Sync error: …' */
export async function callingPanel<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isPanelError(error)) throw syncError(error.message, error);
    throw error;
  }
}

export const syncError = refusal('sync_error', 500, 'Sync error: <n>', (text: string, cause?: unknown) => ({
  detail: `Sync error: ${text}`,
  cause,
}));
