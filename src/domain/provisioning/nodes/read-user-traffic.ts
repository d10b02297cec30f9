import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { readOfPanel } from '../panel-access.ts';
import type { PanelUser } from '../ports.ts';

export const panelUserNotFound = refusal('panel_user_not_found', 404, 'User not found');

/**
 * Traffic of the panel user of a messenger id; of several the one that `findByMessengerId` prefers (spec 06 section 11).
 * @throws AppError 503 not configured, 404 'User not found', 502 the panel gives no answer
 */
export async function readUserTraffic(app: App, messengerId: number): Promise<PanelUser> {
  // The panel refuses ids below 1; they belong to no user.
  const find = async () => (messengerId > 0 ? app.ports.panel.findByMessengerId(messengerId) : null);
  const user = await readOfPanel(app, find);
  if (!user) throw panelUserNotFound();
  return user;
}
