import type { App } from '../../../core/app.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { retryPanelCall } from '../long-runs/retry-panel-call.ts';
import { BULK_USERS, isPanelError } from '../ports.ts';
import type { PushCandidate } from './push-repo.ts';

/** Fewer users than this are pushed one by one. */
const MIN_USERS = 3;

/** Users that need the same squads. */
interface SquadGroup {
  squads: string[];
  members: PushCandidate[];
}

/**
 * Sends the squads of users of whom nothing else differs: all users with the same squads in one call (08 P13). Users that the panel does
 * not report as changed, and small groups, are left for single pushes.
 * @param candidates each with its panel user
 * @param known squads that the panel has
 * @returns the subscriptions whose panel users have their squads now
 */
export async function pushSquadsInBulk(
  app: App,
  lease: RunLease,
  candidates: readonly PushCandidate[],
  known: ReadonlySet<string>,
): Promise<PushCandidate[]> {
  const done: PushCandidate[] = [];
  for (const { squads, members } of groupBySquads(candidates, known)) {
    for (let start = 0; start < members.length; start += BULK_USERS) {
      const chunk = members.slice(start, start + BULK_USERS);
      if (chunk.length < MIN_USERS) continue;
      await lease.keep(app);
      if (await isAccepted(app, chunk, squads)) done.push(...chunk);
    }
  }
  return done;
}

function groupBySquads(candidates: readonly PushCandidate[], known: ReadonlySet<string>): SquadGroup[] {
  const groups = new Map<string, SquadGroup>();
  for (const candidate of candidates) {
    const squads = [...new Set(candidate.target.connectedSquads)].filter((uuid) => known.has(uuid)).sort();
    const group = groups.get(squads.join()) ?? { squads, members: [] };
    group.members.push(candidate);
    groups.set(squads.join(), group);
  }
  return [...groups.values()];
}

async function isAccepted(app: App, members: readonly PushCandidate[], squads: string[]): Promise<boolean> {
  const uuids = members.map(({ listed }) => listed!.user.uuid);
  try {
    const affected = await retryPanelCall(() => app.ports.panel.setSquadsOfUsers(uuids, squads));
    return affected === null || affected >= uuids.length;
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.warn(
      { err: error, users: uuids.length },
      'panel sync: a bulk change of squads failed, the users are pushed one by one',
    );
    return false;
  }
}
