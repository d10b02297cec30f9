import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { isLinkageValid, mayHaveAccess } from '../provisioning/rules.ts';
import { stampPanelReport, writeFromPanel } from '../subscription-state/panel-values.ts';
import { findAccount, lockAccount } from './repo.ts';
import { columnsAfter, isOlderThanPush, isRecreated, isUnpaidAccess } from './rules.ts';

/**
 * Reads one panel user and takes its state over, as a synchronisation would (queue `panel.refresh-user`): for a link that changed, and
 * where an event alone did not show which side is newer. A change that is waiting for its push, or was pushed meanwhile, is not undone.
 * @throws PanelError when the panel gave no usable answer; the queue retries
 */
export async function refreshSubscription(app: App, { userId }: { userId: number }): Promise<void> {
  if (app.ports.panel.configurationError() !== null) return;
  const account = await findAccount(app.db, userId);
  if (!account?.subscription || account.vpnpanelUuid === null || account.subscription.isPushDue) return;
  const readAt = app.clock.now();
  const found = await app.ports.panel.findByUuid(account.vpnpanelUuid);
  await inTransaction(app, async (t) => {
    const current = await lockAccount(t.db, userId);
    const local = current?.subscription;
    if (!local || current.vpnpanelUuid !== account.vpnpanelUuid || isOlderThanPush(local, readAt)) return;
    const now = t.clock.now();
    if (found === null || !isLinkageValid(found, current.messengerId)) {
      if (isRecreated(local, current.status, now)) await requestProvisioning(t, local.id);
      return;
    }
    if (current.status !== 'active') {
      // The term of a blocked or deleted account is kept for its return; its access is not (08 P15).
      if (mayHaveAccess(found)) await requestProvisioning(t, local.id);
      return;
    }
    // Squads and devices are the synchronisation's.
    const squads = local.connectedSquads.map((uuid) => ({ uuid, name: '' }));
    const columns = columnsAfter('user.modified', local, { ...found, squads, deviceLimit: local.deviceLimit }, now);
    if (columns === null) return;
    if (isUnpaidAccess(local, columns)) return requestProvisioning(t, local.id);
    await writeFromPanel(t.db, [{ id: local.id, columns }], now);
    await stampPanelReport(t.db, local.id, now);
  });
}
