import type { App } from '../../../core/app.ts';
import type { UserRecord } from '../../identity/types.ts';
import { mayAdopt } from '../../provisioning/find-panel-user.ts';
import type { PanelUser } from '../../provisioning/ports.ts';
import { isLinkageValid } from '../../provisioning/rules.ts';

/**
 * The panel's user of this account, read-only: by the stored uuid, else by messenger id, else by confirmed e-mail (spec 01 section 11).
 * Links nothing and unlinks nothing. An unconfirmed e-mail proves nothing and is not looked up, and a panel user that is linked to
 * another account is not returned, since it has that account's keys and paid time.
 * @throws PanelError when the panel gives no usable answer
 */
export async function lookUpPanelUser(app: App, user: UserRecord): Promise<PanelUser | null> {
  const { panel } = app.ports;
  if (user.vpnpanelUuid !== null) {
    const linked = await panel.findByUuid(user.vpnpanelUuid);
    if (linked !== null && isLinkageValid(linked, user.messengerId)) return linked;
  }
  if (user.messengerId !== null) {
    const found = await panel.findByMessengerId(user.messengerId);
    if (found !== null) return found;
  }
  if (user.email === null || !user.emailVerified) return null;
  const found = await panel.findByEmail(user.email);
  return found !== null && (await mayAdopt(app, user, found)) ? found : null;
}
