import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { findUserById } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import { adoptPanelUser } from '../provisioning/adopt-panel-user.ts';
import { mayAdopt } from '../provisioning/find-panel-user.ts';
import type { PanelUser } from '../provisioning/ports.ts';
import { applyManualChange, insertManually, lockUserSubscription } from '../subscriptions/manual/manual-changes.ts';
import { isActive } from '../subscriptions/rules/status.ts';
import type { Subscription } from '../subscriptions/types.ts';
import { recordSync } from './panel/sync-repo.ts';
import { fieldsFromPanel, linksFromPanel, usedGigabytes } from './panel/sync-rules.ts';

/** What became of an import; only `imported` and `linked` changed anything. */
export type ImportOutcome = 'imported' | 'linked' | 'not_found' | 'held_by_another' | 'not_wanted';

/**
 * Gives an account whose e-mail has just been proved the subscription that the panel keeps under this address (spec 01 section 5.5).
 *
 * May run any number of times: whoever has a panel user is left alone, so a repeated job never writes over what was bought since. A
 * subscription that is worth more than the panel's (a live paid one, or one that ends no earlier) stays as it is, and the panel
 * follows it; any other becomes what the panel has.
 * @throws PanelError when the panel gave no usable answer; the queue repeats
 */
export async function importPanelUser(app: App, userId: number): Promise<ImportOutcome> {
  if (app.ports.panel.configurationError() !== null) return 'not_wanted';
  const user = await findUserById(app, userId);
  if (!isWanted(user)) return 'not_wanted';
  const found = await app.ports.panel.findByEmail(user.email);
  if (!found) return 'not_found';
  if (!(await mayAdopt(app, user, found))) return 'held_by_another';
  return inTransaction(app, async (t) => {
    const held = await lockUserSubscription(t, userId);
    const present = await findUserById(t, userId);
    // Bought, merged, blocked or moved to another address while the panel was asked.
    if (held === undefined || !isWanted(present) || present.email !== user.email) return 'not_wanted';
    return write(t, userId, held, found);
  });
}

/** An active account with a proved address and no panel user of its own. */
function isWanted(user: UserRecord | null): user is UserRecord & { email: string } {
  return user?.status === 'active' && user.email !== null && user.emailVerified && user.vpnpanelUuid === null;
}

async function write(t: App, userId: number, held: Subscription | null, panel: PanelUser): Promise<ImportOutcome> {
  const now = t.clock.now();
  await adoptPanelUser(t, userId, panel);
  await recordSync(t.db, userId, panel.lifetimeUsedTrafficBytes, now);
  if (held && staysAsItIs(held, panel, now)) {
    await applyManualChange(t, held.id, { changes: linksFromPanel(panel) });
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
  if (held) await applyManualChange(t, held.id, { changes: fields });
  else await insertManually(t, userId, { ...fields, startDate: now });
  return 'imported';
}

function staysAsItIs(held: Subscription, panel: PanelUser, now: Date): boolean {
  return isActive(held, now) && (!held.isTrial || held.endDate >= panel.expireAt);
}
