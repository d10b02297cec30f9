import { type Actor, actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, rethrowUnavailable } from '../../../core/errors.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import { writeSquads } from '../../subscription-state/provision-state.ts';
import {
  type DriveLimits,
  driveRun,
  inParallel,
  type LongRun,
  RunLease,
  retryPanelCall,
  type StepResult,
} from '../long-runs/drive-run.ts';
import { requirePanel } from '../panel-access.ts';
import { BULK_USERS, isPanelError } from '../ports.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { squadNotFound } from '../rules.ts';
import {
  addToCounters,
  countCandidates,
  findRun,
  finishRun,
  type ItemResult,
  insertItems,
  insertRun,
  listPending,
  lockSubscriptions,
  moveLinks,
  saveItems,
} from './repo.ts';
import type { MigrationItem, MigrationRun, MigrationStats, PanelOutcome } from './types.ts';

export const sameSquad = refusal('same_squad', 400, 'Source and target squads are the same');
export const sourceNotFound = refusal('source_not_found', 404, 'Source squad not found');
export const targetNotFound = refusal('target_not_found', 404, 'Target squad not found');
export const migrationRunning = refusal('migration_running', 409, 'A migration of this squad is already under way');

/** How long the request works on the run; then the queue continues. Below the time-outs that proxies commonly have. */
const REQUEST_MS = 20 * SECOND_MS;

/** How many subscriptions a migration away from a squad would move (spec 06 section 11). @throws AppError 404 'Squad not found' */
export async function previewMigration(app: App, squadUuid: string) {
  const wanted = squadUuid.trim();
  const [server] = await findSquadsByUuid(app, [wanted]);
  if (!server) throw squadNotFound();
  return {
    squadUuid: server.squadUuid,
    squadName: server.displayName,
    currentUsers: server.currentUsers,
    maxUsers: server.maxUsers,
    usersToMigrate: await countCandidates(app.db, server.squadUuid),
  };
}

/**
 * Moves every active and trial subscription from one squad to another (spec 06 section 10). The candidates are stored first; then
 * this request moves them batch by batch for up to 20 s. The queue moves the rest, also after a crash. The target's `max_users` is
 * not checked.
 * @returns the run as it is now: `completed`, `failed`, or `running` while the queue continues
 * @throws AppError 400 same squad, 404 source or target unknown, 409 a migration of this source is under way, 503 not configured
 */
export async function migrateSquad(
  app: App,
  actor: Actor,
  request: { sourceUuid: string; targetUuid: string },
): Promise<MigrationRun> {
  const untilMs = performance.now() + REQUEST_MS;
  requirePanel(app);
  const source = request.sourceUuid.trim();
  const target = request.targetUuid.trim();
  if (source === target) throw sameSquad();
  const servers = await findSquadsByUuid(app, [source, target]);
  const isKnown = (uuid: string) => servers.some((server) => server.squadUuid === uuid);
  if (!isKnown(source)) throw sourceNotFound();
  if (!isKnown(target)) throw targetNotFound();
  const { id, lease } = await inTransaction(app, async (t) => {
    const run = await insertRun(t.db, { source, target, startedBy: actorKey(actor), now: t.clock.now() });
    if (!run) throw migrationRunning();
    await insertItems(t.db, run.id, source);
    return run;
  });
  const run = migrationRun(id, { sourceUuid: source, targetUuid: target });
  await driveRun(app, run, { untilMs }, new RunLease(run.table, id, lease));
  const result = await findRun(app.db, id);
  if (!result) throw new Error('the migration run was deleted while it ran');
  app.audit?.record({ resourceId: source, after: { run_id: id, status: result.status, ...result.stats } });
  return result;
}

/** Continues a run whose request is over or whose worker crashed (queue `provisioning.continue`). */
export async function continueMigration(app: App, runId: number, limits: DriveLimits): Promise<void> {
  const run = await findRun(app.db, runId);
  if (run?.status === 'running') await driveRun(app, migrationRun(runId, run.stats), limits);
}

const BATCH = 500;
/** Calls of one batch, at most: a request waits for the whole batch. */
const CALLS = 20;

interface Servers {
  sourceId: number;
  targetId: number;
}

/**
 * A squad migration as a long run: for each batch the panel first, outside of any transaction, then the rows in
 * one. A subscription that the panel did not accept stays unchanged and is tried again, up to `MAX_ATTEMPTS` times. Where the panel may
 * have a state that the row does not get, a push sends the row's state (spec 06 section 17, hazard 6).
 */
function migrationRun(id: number, squads: Pick<MigrationStats, 'sourceUuid' | 'targetUuid'>): LongRun {
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

/** The new squads of an item. */
interface SquadChange {
  item: MigrationItem;
  squads: string[];
}

interface PanelUpdate {
  outcome: PanelOutcome;
  error: string | null;
}

/** Squads of the panel, cached by a worker between two batches; null after a failure, so that they are read again. */
interface PanelSquadCache {
  squads: Set<string> | null;
}

type RecordOutcome = (changes: readonly SquadChange[], outcome: PanelOutcome, error: string | null) => void;

/**
 * Sends the new squads of a batch to the panel, users with the same squads in one call. Only squads that the panel has are sent, since
 * an unknown one would fail the call for all its users; where the target is not among them, no user is changed.
 * @returns the result of each subscription, by its id
 */
async function updatePanelSquads(
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

/** The squads after the move: without the source, and with the target once. */
export function movedSquads(squads: readonly string[], source: string, target: string): string[] {
  const others = squads.filter((uuid) => uuid !== source);
  return others.includes(target) ? others : [...others, target];
}

/** Tries of one subscription after which it stays in the source squad. */
export const MAX_ATTEMPTS = 8;

/**
 * Users of one call, by the number of attempts: fewer with each attempt, so that a user whom the panel refuses is isolated and does not
 * block the five hundred others of the call.
 */
export function chunkFor(attempts: number): number {
  return [BULK_USERS, BULK_USERS, BULK_USERS, 100, 25, 5][attempts] ?? 1;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 4_000;

/**
 * Pause after a failed batch, by how often its subscriptions have been tried, doubling up to 4 s. Together the pauses are longer than
 * the circuit breaker stays open, and shorter than a request.
 */
export function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts, 10), MAX_PAUSE_MS);
}

/** Groups users whose new squads are the same in any order. */
export function groupBySquads<T>(
  items: readonly T[],
  squadsOf: (item: T) => readonly string[],
): { squads: string[]; items: T[] }[] {
  const groups = new Map<string, { squads: string[]; items: T[] }>();
  for (const item of items) {
    const squads = [...squadsOf(item)].sort();
    const key = squads.join(' ');
    const group = groups.get(key);
    if (group) group.items.push(item);
    else groups.set(key, { squads, items: [item] });
  }
  return [...groups.values()];
}
