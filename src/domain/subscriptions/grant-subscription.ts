import type { App } from '../../core/app.ts';
import { findSquadsByUuid, listSquads } from '../catalog/find-squads.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { insert, linkServers, lockByUser } from './repo.ts';
import { replaceSubscription } from './rules/replace.ts';
import { trialSquadCandidates } from './rules/trial.ts';
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
 * request to the panel, which is told after commit. Without squads of its own it gets one trial-eligible server at random, else the
 * first available one.
 * @returns null when the user has a subscription already, in whatever state, or does not exist
 */
export async function grantSubscription(t: App, userId: number, terms: GrantTerms): Promise<Subscription | null> {
  const held = await lockByUser(t.db, userId);
  if (!held || held.subscription) return null;
  const now = t.clock.now();
  const all = await listSquads(t);
  const known = await findSquadsByUuid(t, [...terms.squads]);
  const candidates = known.length > 0 ? [] : trialSquadCandidates(all);
  const drawn = candidates.length > 0 ? candidates[t.random.int(0, candidates.length)] : undefined;
  const squads = known.length > 0 ? known.map((squad) => squad.squadUuid) : drawn ? [drawn.squadUuid] : [];
  const fields = {
    ...replaceSubscription({ ...terms, squads }, all, now),
    tariffId: terms.tariffId,
    autopayEnabled: t.settings.get('DEFAULT_AUTOPAY_ENABLED'),
    autopayDaysBefore: t.settings.get('DEFAULT_AUTOPAY_DAYS_BEFORE'),
  };
  const subscription = await insert(t.db, userId, fields, now);
  await linkServers(t.db, subscription.id, now);
  await requestProvisioning(t, subscription.id, { resetTraffic: true });
  return subscription;
}
