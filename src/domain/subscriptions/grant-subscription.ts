import type { App } from '../../core/app.ts';
import { findSquadsByUuid, listSquads } from '../catalog/find-squads.ts';
import type { ServerSquad } from '../catalog/types.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { autopayDefaults } from './autopay-defaults.ts';
import { insert, linkServers, lockByUser } from './repo.ts';
import { replaceSubscription } from './rules/replace.ts';
import { trialSquadCandidates } from './rules/trial.ts';
import { readTrialTerms } from './trial-terms.ts';
import type { Subscription } from './types.ts';

/** What is given; days, GB (0 = unlimited), devices. */
export interface GrantTerms {
  days: number;
  isTrial: boolean;
  trafficLimitGb: number;
  deviceLimit: number;
  /** Uuids that do not exist any more are left out; none left = one is drawn. */
  squads: readonly string[];
  tariffId: number | null;
}

/**
 * Starts the first subscription of a user without charging (spec 04 section 6.2), in the caller's transaction: row, servers and the
 * request to the panel, which is updated after commit. Without existing squads in the terms one trial-eligible server is chosen at
 * random.
 * @returns null when the user has a subscription already, in whatever state, or does not exist
 */
export async function grantSubscription(t: App, userId: number, terms: GrantTerms): Promise<Subscription | null> {
  const user = await lockByUser(t.db, userId);
  if (!user || user.subscription) return null;
  const now = t.clock.now();
  const all = await listSquads(t);
  const squads = await pickTrialSquads(t, terms.squads, all);
  const fields = {
    ...replaceSubscription({ ...terms, squads }, all, now),
    tariffId: terms.tariffId,
    ...autopayDefaults(t),
  };
  const subscription = await insert(t.db, userId, fields, now);
  await linkServers(t.db, subscription.id, now);
  await requestProvisioning(t, subscription.id, { resetTraffic: true });
  return subscription;
}

/**
 * Starts a free trial of the given length for a locked user without subscription (spec 02 section 4.1, spec 04 section 7.1). In the
 * caller's transaction; the panel is updated after commit.
 * @returns null when the user has a subscription already
 */
export async function grantTrial(t: App, userId: number, days: number): Promise<Subscription | null> {
  const { trafficLimitGb, deviceLimit, squads, tariffId } = await readTrialTerms(t);
  return grantSubscription(t, userId, { days, isTrial: true, trafficLimitGb, deviceLimit, squads, tariffId });
}

/**
 * The squads of a granted subscription: those named that exist, else one trial-eligible server at random (spec 02 section 4.1).
 * @param all all servers
 * @returns uuids; none when no server may be used for trials
 */
export async function pickTrialSquads(t: App, named: readonly string[], all: readonly ServerSquad[]): Promise<string[]> {
  const known = await findSquadsByUuid(t, [...named]);
  if (known.length > 0) return known.map((squad) => squad.squadUuid);
  const candidates = trialSquadCandidates(all);
  const drawn = candidates.length > 0 ? candidates[t.random.int(0, candidates.length)] : undefined;
  return drawn ? [drawn.squadUuid] : [];
}
