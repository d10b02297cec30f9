import type { App } from '../../../core/app.ts';
import { requireUser } from '../../identity/require-user.ts';
import type { PanelUser } from '../../provisioning/ports.ts';
import { isPanelError } from '../../provisioning/ports.ts';
import { lookUpPanelUser } from './look-up-panel-user.ts';

export interface PanelInfo {
  user: PanelUser;
  /** Null when the user has no access to the node any more, or never connected. */
  lastNodeName: string | null;
}

/**
 * The panel's data of a user; null when it is not configured, has no such user or does not answer (spec 01 section 11.1).
 * @throws AppError 404 'User not found'
 */
export async function readPanelInfo(app: App, userId: number): Promise<PanelInfo | null> {
  const user = await requireUser(app, userId);
  try {
    const found = await lookUpPanelUser(app, user);
    if (!found) return null;
    const nodeUuid = found.lastConnectedNodeUuid;
    const nodes = nodeUuid === null ? [] : await app.ports.panel.listUserNodes(found.uuid);
    return { user: found, lastNodeName: nodes.find((node) => node.uuid === nodeUuid)?.nodeName ?? null };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.info({ userId, kind: error.kind }, 'admin users: the panel gave no answer');
    return null;
  }
}
