import type { App } from '../../core/app.ts';

/**
 * Deletes or disables a panel user without owner, as `VPNPANEL_USER_DELETE_MODE` says. One that is already absent is done.
 * @throws PanelError when the panel gave no usable answer; the queue repeats
 */
export async function removePanelUser(app: App, panelUuid: string): Promise<void> {
  if (app.settings.get('VPNPANEL_USER_DELETE_MODE') === 'delete') await app.ports.panel.deleteUser(panelUuid);
  else await app.ports.panel.disableUser(panelUuid);
}
