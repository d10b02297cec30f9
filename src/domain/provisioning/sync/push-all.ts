import type { App } from '../../../core/app.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { retryPanelCall } from '../long-runs/retry-panel-call.ts';
import { stateWithoutUser } from '../panel-fields.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { type Difference, differenceFrom, type PanelSquads } from './compare-panel-user.ts';
import { advance, type PhaseResult, progressOf } from './progress.ts';
import { countCreated, countSubscriptions, listChangedSince, listPushCandidates, type PushCandidate } from './push-repo.ts';
import { pushRounds } from './push-rounds.ts';
import { pushSquadsInBulk } from './push-squads-in-bulk.ts';
import type { SyncRun } from './types.ts';

/** Subscriptions between two stored cursors: what a killed worker leaves to be compared again. */
const BATCH = 200;

/**
 * Updates the panel users of the next subscriptions (spec 06 section 10). Users that are in step by the panel's list are not sent, so a
 * second run sends nothing (08 P2). Where only the squads differ, many users go in one call; the others are pushed like every
 * subscription, with the same lease and the same look-up, several at the same time (08 P13).
 */
export async function pushAll(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  const page = { afterId: Number(run.cursor.after || 0), limit: BATCH };
  const candidates = await listPushCandidates(app.db, run.id, page);
  const last = candidates.at(-1);
  if (!last) return 'next';
  await lease.keep(app);
  const known = await knownSquads(app, candidates);
  const sorted: Record<Difference, PushCandidate[]> = { none: [], squads: [], other: [] };
  for (const candidate of candidates) sorted[difference(app, run, candidate, known)].push(candidate);
  const moved = await pushSquadsInBulk(app, lease, sorted.squads, known.internal);
  const single = [...sorted.other, ...sorted.squads.filter((candidate) => !moved.includes(candidate))];
  const { done, failed } = await pushRounds(app, lease, single, run.cursor.isComplete);
  const created = await countCreated(app.db, run.id, done);
  const total = run.cursor.progress?.total ?? (await countSubscriptions(app.db));
  const progress = progressOf(run, candidates.length, total);
  await lease.write(app, async (t) => {
    // A push of the row between the reading and the bulk call may have sent newer squads before the older ones.
    for (const id of [...failed, ...(await listChangedSince(t.db, moved))]) await requestProvisioning(t, id);
    const updated = done.length + moved.length - created;
    const counted = { created, updated, errors: failed.length, checked: candidates.length };
    await advance(t, run, { after: String(last.target.subscriptionId), progress }, counted);
  });
  app.log.info({ runId: run.id, ...progress, updated: done.length + moved.length, failed: failed.length }, 'panel sync: pushing');
  return 'more';
}

/** What the panel has of squads; asked only where a subscription names some. */
async function knownSquads(app: App, candidates: readonly PushCandidate[]): Promise<PanelSquads> {
  const { panel } = app.ports;
  const uuids = async (list: () => Promise<{ uuid: string }[]>) =>
    new Set((await retryPanelCall(list)).map((squad) => squad.uuid));
  const isNamed = candidates.some(({ target }) => target.connectedSquads.length > 0);
  const isExternalNamed = candidates.some(({ target }) => target.externalSquadUuid !== null);
  return {
    internal: isNamed ? await uuids(() => panel.listInternalSquads()) : new Set(),
    external: isExternalNamed ? await uuids(() => panel.listExternalSquads()) : new Set(),
  };
}

/** What a push would change. */
function difference(app: App, run: SyncRun, candidate: PushCandidate, known: PanelSquads): Difference {
  const { target, listed, provisionedAt } = candidate;
  if (candidate.isPushDue || target.resetTraffic || target.resetDevices) return 'other';
  // Pushed since the list was read, maybe by this run before it was interrupted.
  const readAt = listed?.readAt ?? new Date(run.cursor.readAt!);
  if (provisionedAt !== null && provisionedAt > readAt) return 'none';
  if (listed === null) {
    const isNobody = stateWithoutUser(target, app.clock.now()).status === 'DISABLED' && target.user.vpnpanelUuid === null;
    return isNobody ? 'none' : 'other';
  }
  if (candidate.target.vpnpanelShortUuid !== listed.user.shortUuid) return 'other';
  return differenceFrom(app, target, listed.user, known);
}
