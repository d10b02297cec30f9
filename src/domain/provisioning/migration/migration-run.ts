import type { App } from '../../../core/app.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import { writeSquads } from '../../subscription-state/connected-squads.ts';
import type { LongRun, RunLease, StepResult } from '../long-runs/drive-run.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { addToCounters, finishRun, type ItemResult, listPending, lockSubscriptions, moveLinks, saveItems } from './repo.ts';
import { chunkFor, MAX_ATTEMPTS, movedSquads, pauseAfter } from './rules.ts';
import type { MigrationStats } from './types.ts';
import { type PanelSquadCache, type PanelUpdate, type SquadChange, updatePanelSquads } from './update-panel-squads.ts';

const BATCH = 500;
/** Calls of one batch, at most: a request waits for the whole batch. */
const CALLS = 20;

interface Servers {
  sourceId: number;
  targetId: number;
}

/**
 * A squad migration as a long run (spec 06 section 10): for each batch the panel first, outside of any transaction, then the rows in
 * one. A subscription that the panel did not accept stays as it was and is tried again, up to `MAX_ATTEMPTS` times. Where the panel may
 * have a state that the row does not get, a push sends the row's state (spec 06 section 17, hazard 6).
 */
export function migrationRun(id: number, squads: Pick<MigrationStats, 'sourceUuid' | 'targetUuid'>): LongRun {
  const cache: PanelSquadCache = { squads: null };
  return {
    table: 'squad_migration_runs',
    id,
    step: (app, lease) => moveBatch(app, lease, cache, squads),
    giveUp: (app, lease) => lease.write(app, (t) => giveUp(t, id)),
  };
}

/** The next candidates are those of the batch that could not be stored; the panel may have accepted it. */
async function giveUp(t: App, runId: number): Promise<void> {
  const pending = await listPending(t.db, runId, BATCH);
  const locked = await lockSubscriptions(
    t.db,
    pending.map((item) => item.subscriptionId),
  );
  for (const id of locked.keys()) await requestProvisioning(t, id);
  await finishRun(t.db, runId, 'unexpected', t.clock.now());
}

async function moveBatch(
  app: App,
  lease: RunLease,
  cache: PanelSquadCache,
  { sourceUuid, targetUuid }: Pick<MigrationStats, 'sourceUuid' | 'targetUuid'>,
): Promise<StepResult> {
  const end = (error: 'not_found' | null) => lease.write(app, (t) => finishRun(t.db, lease.id, error, t.clock.now()));
  const pending = await listPending(app.db, lease.id, BATCH);
  if (pending.length === 0) {
    await end(null);
    return 'done';
  }
  const servers = await findServers(app, sourceUuid, targetUuid);
  if (!servers) {
    await end('not_found');
    return 'done';
  }
  const attempts = pending[0]!.attempts;
  const batch = pending.filter((item) => item.attempts === attempts).slice(0, CALLS * chunkFor(attempts));
  const changes = batch.map((item) => ({ item, squads: movedSquads(item.connectedSquads, sourceUuid, targetUuid) }));
  const updates = await updatePanelSquads(app, lease, cache, changes, targetUuid);
  await lease.write(app, (t) => store(t, lease.id, { changes, updates, servers, sourceUuid, targetUuid }));
  const hasFailed = [...updates.values()].some(({ outcome }) => outcome === 'failed');
  return hasFailed && attempts + 1 < MAX_ATTEMPTS ? { pauseMs: pauseAfter(attempts + 1) } : 'more';
}

async function findServers(app: App, sourceUuid: string, targetUuid: string): Promise<Servers | null> {
  const servers = await findSquadsByUuid(app, [sourceUuid, targetUuid]);
  const source = servers.find((server) => server.squadUuid === sourceUuid);
  const target = servers.find((server) => server.squadUuid === targetUuid);
  return source && target ? { sourceId: source.id, targetId: target.id } : null;
}

interface Batch {
  changes: readonly SquadChange[];
  updates: ReadonlyMap<number, PanelUpdate>;
  servers: Servers;
  sourceUuid: string;
  targetUuid: string;
}

async function store(t: App, runId: number, batch: Batch): Promise<void> {
  const now = t.clock.now();
  const { changes, updates, servers, sourceUuid, targetUuid } = batch;
  const locked = await lockSubscriptions(
    t.db,
    changes.map(({ item }) => item.subscriptionId),
  );
  const moved: { id: number; connectedSquads: string[] }[] = [];
  const results: ItemResult[] = [];
  const pushes: number[] = [];
  for (const { item, squads } of changes) {
    const { outcome, error } = updates.get(item.subscriptionId)!;
    const base = { subscriptionId: item.subscriptionId, panelUpdated: false, targetAdded: false, error };
    const row = locked.get(item.subscriptionId);
    if (outcome === 'failed' || outcome === 'refused') {
      const isOver = outcome === 'refused' || item.attempts + 1 >= MAX_ATTEMPTS;
      results.push({ ...base, state: isOver ? 'failed' : 'pending' });
      // A call without an answer, now or in an earlier try, may have been executed; the row keeps the source, so must the panel.
      const mayBeDone = outcome === 'failed' || item.attempts > 0;
      if (isOver && mayBeDone && row) pushes.push(row.id);
      continue;
    }
    // An account merge has deleted the subscription and its item.
    if (!row) continue;
    const isMoved = row.connectedSquads.includes(sourceUuid);
    const wanted = isMoved ? movedSquads(row.connectedSquads, sourceUuid, targetUuid) : row.connectedSquads;
    if (isMoved) moved.push({ id: row.id, connectedSquads: wanted });
    const isAsSent = isSameList(wanted, squads) && row.provisionMark === item.provisionMark;
    // A push since the candidates were read may have sent the old squads, also for a user without a panel user then; one more push
    // sends the row's state.
    const needsPush = outcome === 'absent' || row.isPushDue || !isAsSent;
    if (needsPush) pushes.push(row.id);
    const targetAdded = isMoved && !row.connectedSquads.includes(targetUuid);
    results.push({ ...base, state: 'done', panelUpdated: isMoved && outcome === 'updated', targetAdded });
  }
  const added = results.filter((result) => result.targetAdded);
  if (moved.length > 0) {
    await writeSquads(t.db, moved, now);
    const ids = moved.map((row) => row.id);
    await moveLinks(t.db, { ...servers, ids, addedIds: added.map((result) => result.subscriptionId), now });
  }
  await saveItems(t.db, runId, results);
  await addToCounters(t.db, runId, {
    updated: moved.length,
    panelUpdated: results.filter((result) => result.panelUpdated).length,
    panelFailed: results.filter((result) => result.state === 'failed').length,
    sourceRemoved: moved.length,
    targetAdded: added.length,
    now,
  });
  for (const id of pushes) await requestProvisioning(t, id);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((uuid, index) => uuid === b[index]);
}
