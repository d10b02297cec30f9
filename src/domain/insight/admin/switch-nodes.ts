import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { runNodeAction } from '../../provisioning/nodes/operate-nodes.ts';
import { listNodes, nodeNotFound } from '../../provisioning/nodes/read-nodes.ts';

export const panelRefused = refusal('panel_refused', 400, 'Failed to delete squad');
export const panelFailed = refusal('panel_failed', 400, 'Failed to restart node');

/** Restarts a node; the panel executes it later (spec 06 section 4.3). @throws AppError 400 'Failed to restart node' */
export async function restartNode(app: App, actor: Actor, uuid: string): Promise<void> {
  await refuseFailure(
    'Failed to restart node',
    async () => (await runNodeAction(app, actor, uuid, 'restart')).outcome === 'done',
  );
}

/**
 * Enables a node that is disabled, disables any other.
 * @returns whether the node is disabled now
 * @throws AppError 404 'Node not found', 400 'Failed to enable node' | 'Failed to disable node' | 'Failed to toggle node' (no list of nodes)
 */
export async function toggleNode(app: App, actor: Actor, uuid: string): Promise<boolean> {
  const nodes = await asRefusal('Failed to toggle node', () => listNodes(app));
  const node = nodes.find((candidate) => candidate.uuid === uuid);
  if (!node) throw nodeNotFound();
  const action = node.isDisabled ? 'enable' : 'disable';
  await refuseFailure(`Failed to ${action} node`, async () => (await runNodeAction(app, actor, uuid, action)).outcome === 'done');
  return !node.isDisabled;
}

async function refuseFailure(failure: string, act: () => Promise<boolean>): Promise<void> {
  if (!(await asRefusal(failure, act))) throw panelRefused({ detail: failure });
}

/** A panel that is not configured or gives no answer is 400 with the text of this group. */
async function asRefusal<T>(failure: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isAppError(error) ? panelFailed({ detail: failure, cause: error }) : error;
  }
}
