import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { askPanel, type PanelOutcome } from '../panel-access.ts';
import type { PanelNode } from '../panel-objects.ts';

export type NodeAction = 'enable' | 'disable' | 'restart';

/** Null after a restart, which the panel executes later. */
interface NodeChange {
  isDisabled: boolean | null;
}

/**
 * Enables, disables or restarts a node at the panel; it also succeeds on a node that is in that state already.
 * @returns done with the node's state after the action
 * @throws AppError 503 not configured
 */
export async function runNodeAction(
  app: App,
  _actor: Actor,
  uuid: string,
  action: NodeAction,
): Promise<PanelOutcome<NodeChange>> {
  app.audit?.record({ resourceId: uuid });
  const result = await askPanel(app, () => (action === 'restart' ? restart(app, uuid) : switchNode(app, uuid, action)));
  if (result.outcome !== 'done') app.audit?.record({ after: { success: false, reason: reasonOf(result) } });
  return result;
}

async function restart(app: App, uuid: string): Promise<NodeChange | null> {
  if (!(await app.ports.panel.restartNode(uuid))) return null;
  app.audit?.record({ after: { restarted: true } });
  return { isDisabled: null };
}

async function switchNode(app: App, uuid: string, action: 'enable' | 'disable'): Promise<NodeChange | null> {
  const { panel } = app.ports;
  const before = await panel.getNode(uuid);
  if (!before) return null;
  const after = action === 'enable' ? await panel.enableNode(uuid) : await panel.disableNode(uuid);
  if (!after) return null;
  app.audit?.record({ before: stateOf(before), after: stateOf(after) });
  return { isDisabled: after.isDisabled };
}

const stateOf = (node: PanelNode) => ({ name: node.name, is_disabled: node.isDisabled });

/** Restarts every node; the panel executes it after its answer. @throws AppError 503 not configured */
export async function restartAllNodes(app: App, _actor: Actor): Promise<PanelOutcome<true>> {
  app.audit?.record({ resourceId: 'all', after: { restarted: true } });
  const result = await askPanel(app, async () => {
    await app.ports.panel.restartAllNodes();
    return true as const;
  });
  if (result.outcome === 'failed') app.audit?.record({ after: { success: false, reason: result.reason } });
  return result;
}

const reasonOf = (result: { outcome: 'absent' } | { outcome: 'failed'; reason: string }) =>
  result.outcome === 'absent' ? 'Node not found' : result.reason;
