import type { App } from '../../../core/app.ts';
import { rethrowUnavailable } from '../../../core/errors.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { inParallel } from '../long-runs/parallel-calls.ts';
import { retryPanelCall } from '../long-runs/retry-panel-call.ts';
import { isPanelError } from '../ports.ts';
import { chunkFor, groupBySquads } from './rules.ts';
import type { MigrationItem, PanelOutcome } from './types.ts';

/** The new squads of an item. */
export interface SquadChange {
  item: MigrationItem;
  squads: string[];
}

export interface PanelUpdate {
  outcome: PanelOutcome;
  error: string | null;
}

/** Squads of the panel, cached by a worker between two batches; null after a failure, so that they are read again. */
export interface PanelSquadCache {
  squads: Set<string> | null;
}

type RecordOutcome = (changes: readonly SquadChange[], outcome: PanelOutcome, error: string | null) => void;

/**
 * Sends the new squads of a batch to the panel, users with the same squads in one call. Only squads that the panel has are sent, since
 * an unknown one would fail the call for all its users; where the target is not among them, no user is changed.
 * @returns the result of each subscription, by its id
 */
export async function updatePanelSquads(
  app: App,
  lease: RunLease,
  cache: PanelSquadCache,
  changes: readonly SquadChange[],
  target: string,
): Promise<Map<number, PanelUpdate>> {
  const updates = new Map<number, PanelUpdate>();
  const record: RecordOutcome = (some, outcome, error) => {
    for (const { item } of some) updates.set(item.subscriptionId, { outcome, error });
  };
  const linked = changes.filter(({ item }) => item.vpnpanelUuid !== null);
  record(
    changes.filter(({ item }) => item.vpnpanelUuid === null),
    'no_user',
    null,
  );
  if (linked.length === 0) return updates;
  let known: Set<string>;
  try {
    await lease.renew(app);
    known =
      cache.squads ?? new Set((await retryPanelCall(() => app.ports.panel.listInternalSquads())).map((squad) => squad.uuid));
    cache.squads = known;
  } catch (error) {
    rethrowUnavailable(error);
    record(linked, 'failed', panelText(error));
    return updates;
  }
  if (!known.has(target)) {
    cache.squads = null;
    record(linked, 'refused', 'The panel does not have the target squad');
    return updates;
  }
  const size = chunkFor(Math.max(...linked.map(({ item }) => item.attempts)));
  const groups = groupBySquads(linked, (change) => change.squads.filter((uuid) => known.has(uuid)));
  for (const { squads, items } of groups) {
    for (let start = 0; start < items.length; start += size) {
      const chunk = items.slice(start, start + size);
      await lease.renew(app);
      const result = size === 1 ? 'one_by_one' : await updateInBulk(app, chunk, squads);
      if (result === 'one_by_one') await updateOneByOne(app, lease, chunk, squads, record);
      else record(chunk, result.outcome, result.error);
    }
  }
  if ([...updates.values()].some(({ outcome }) => outcome === 'failed' || outcome === 'refused')) cache.squads = null;
  return updates;
}

/** @returns `one_by_one` when the answer does not cover all users, or the panel has no bulk call */
async function updateInBulk(app: App, chunk: readonly SquadChange[], squads: string[]): Promise<PanelUpdate | 'one_by_one'> {
  const uuids = chunk.map(({ item }) => item.vpnpanelUuid!);
  try {
    const affected = await retryPanelCall(() => app.ports.panel.setSquadsOfUsers(uuids, squads));
    return affected !== null && affected < uuids.length ? 'one_by_one' : { outcome: 'updated', error: null };
  } catch (error) {
    const text = panelText(error);
    if (isPanelError(error) && (error.kind === 'rejected' || error.status === 404 || error.status === 405)) return 'one_by_one';
    return { outcome: 'failed', error: text };
  }
}

async function updateOneByOne(
  app: App,
  lease: RunLease,
  chunk: readonly SquadChange[],
  squads: string[],
  record: RecordOutcome,
): Promise<void> {
  await inParallel(app, lease, chunk, async (change) => {
    const { outcome, error } = await updateOne(app, change.item.vpnpanelUuid!, squads);
    record([change], outcome, error);
  });
}

async function updateOne(app: App, uuid: string, squads: string[]): Promise<PanelUpdate> {
  try {
    const changed = await retryPanelCall(() => app.ports.panel.updateUser({ uuid, squadUuids: squads }));
    return { outcome: changed === null ? 'absent' : 'updated', error: null };
  } catch (error) {
    const text = panelText(error);
    return { outcome: isPanelError(error) && error.kind === 'rejected' ? 'refused' : 'failed', error: text };
  }
}

/** @throws any error that is not the panel's */
function panelText(error: unknown): string {
  if (isPanelError(error)) return error.message;
  throw error;
}
