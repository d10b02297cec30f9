import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { findUserById } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import { withCryptoLink } from '../provisioning/panel-access.ts';
import { adoptPanelUser, mayAdopt } from '../provisioning/panel-user.ts';
import type { PanelUser } from '../provisioning/ports.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { applyManualChange, insertManually, lockUserSubscription } from '../subscriptions/manual/manual-changes.ts';
import { isActive } from '../subscriptions/rules/status.ts';
import type { Subscription } from '../subscriptions/types.ts';
import { recordSync } from './panel/sync-repo.ts';
import { fieldsFromPanel, linksFromPanel, usedGigabytes } from './panel/sync-rules.ts';

/** The result of an import; only `imported` and `linked` changed anything. */
export type ImportOutcome = 'imported' | 'linked' | 'not_found' | 'taken_by_another' | 'not_applicable';

/**
 * Grants an account whose e-mail has just been verified the subscription that the panel has for this address (spec 01 section 5.5).
 *
 * May run any number of times: an account with a panel user is not changed, so that a repeated job never overwrites what was bought since.
 * A paid subscription that is active, or one that ends no earlier than the panel's, is retained and pushed to the panel; any other takes
 * the panel's values.
 * @throws PanelError when the panel gave no usable answer; the queue repeats
 */
export async function importPanelUser(app: App, userId: number): Promise<ImportOutcome> {
  if (app.ports.panel.configurationError() !== null) return 'not_applicable';
  const user = await findUserById(app, userId);
  if (!isEligible(user)) return 'not_applicable';
  const found = await app.ports.panel.findByEmail(user.email);
  if (!found) return 'not_found';
  if (!(await mayAdopt(app, user, found))) return 'taken_by_another';
  const panelUser = await withCryptoLink(app, found);
  return inTransaction(app, async (t) => {
    const subscription = await lockUserSubscription(t, userId);
    const present = await findUserById(t, userId);
    // During the call to the panel the user may have bought, been merged or blocked, or got another address.
    if (subscription === undefined || !isEligible(present) || present.email !== user.email) return 'not_applicable';
    return write(t, userId, subscription, panelUser);
  });
}

/** An active account with a verified address and without panel user. */
function isEligible(user: UserRecord | null): user is UserRecord & { email: string } {
  return user?.status === 'active' && user.email !== null && user.emailVerified && user.vpnpanelUuid === null;
}

async function write(t: App, userId: number, subscription: Subscription | null, panel: PanelUser): Promise<ImportOutcome> {
  const now = t.clock.now();
  await adoptPanelUser(t, userId, panel);
  await recordSync(t.db, userId, panel.lifetimeUsedTrafficBytes, now);
  if (subscription && isRetained(subscription, panel, now)) {
    await applyManualChange(t, subscription.id, { changes: linksFromPanel(panel) });
    return 'linked';
  }
  const fields = {
    ...fieldsFromPanel(panel, now),
    ...linksFromPanel(panel),
    // 0 leaves the number of devices to the panel's own default.
    deviceLimit: panel.deviceLimit ?? 0,
    trafficUsedGb: usedGigabytes(panel),
    isTrial: false,
  };
  if (subscription) await applyManualChange(t, subscription.id, { changes: fields });
  else await insertManually(t, userId, { ...fields, startDate: now });
  return 'imported';
}

function isRetained(subscription: Subscription, panel: PanelUser, now: Date): boolean {
  return isActive(subscription, now) && (!subscription.isTrial || subscription.endDate >= panel.expireAt);
}

/**
 * Has the panel store the e-mail that a user has just verified or changed to: the panel finds users by it, and the old address may belong to
 * another person. The push sends it; a user without panel user gets it there with the creation.
 */
export async function pushEmailToPanel(app: App, userId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const subscription = await lockUserSubscription(t, userId);
    const user = await findUserById(t, userId);
    if (subscription && user?.vpnpanelUuid && user.emailVerified) await requestProvisioning(t, subscription.id);
  });
}
