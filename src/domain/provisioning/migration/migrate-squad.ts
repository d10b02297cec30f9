import { type Actor, actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import { squadNotFound } from '../errors.ts';
import { type DriveLimits, driveRun, RunLease } from '../long-runs/drive-run.ts';
import { requirePanel } from '../panel-access.ts';
import { migrationRun } from './migration-run.ts';
import { countCandidates, findRun, insertItems, insertRun } from './repo.ts';
import type { MigrationRun } from './types.ts';

export const sameSquad = refusal('same_squad', 400, 'Source and target squads are the same');
export const sourceNotFound = refusal('source_not_found', 404, 'Source squad not found');
export const targetNotFound = refusal('target_not_found', 404, 'Target squad not found');
export const migrationRunning = refusal('migration_running', 409, 'A migration of this squad is already under way');

/** How long the request works on the run; then the queue continues. Below the time-outs that proxies commonly have. */
const REQUEST_MS = 20 * SECOND_MS;

export interface MigrationPreview {
  squadUuid: string;
  squadName: string;
  /** Counter of the server. */
  currentUsers: number;
  maxUsers: number | null;
  /** Active and trial subscriptions that have the squad. */
  usersToMigrate: number;
}

/** How many subscriptions a migration away from a squad would move (spec 06 section 11). @throws AppError 404 'Squad not found' */
export async function previewMigration(app: App, squadUuid: string): Promise<MigrationPreview> {
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
