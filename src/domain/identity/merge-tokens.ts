import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { urlSafeToken } from '../../core/random.ts';
import { peek, put, take } from '../../core/short-lived.ts';
import { dropEntry, renewEntry } from './merge-token-repo.ts';
import { linkedId } from './oauth/rules.ts';
import type { OAuthProvider } from './oauth/types.ts';
import { haveSessionsEndedSince } from './sessions/refresh-session.ts';
import type { UserRecord } from './types.ts';

/** How long a merge may be confirmed (spec 01 section 1.3). */
export const MERGE_TOKEN_SECONDS = (30 * MINUTE_MS) / SECOND_MS;

/** How often a merge that failed may be tried again with the same token (spec 01 section 8). */
const MAX_RESTORES = 3;

/** Who may be merged: the signed-in account that tried to link an identity, and the account that holds it. */
export interface MergeOffer {
  primaryUserId: number;
  secondaryUserId: number;
  /** Where both proved one identity. */
  provider: 'messenger' | OAuthProvider;
  providerId: string;
}

/** The identities by which an account may be claimed. */
type HeldIdentities = Pick<UserRecord, 'messengerId' | 'googleId' | 'yandexId' | 'discordId' | 'vkId'>;

/** A merge offer as it waits for its confirmation. */
export interface PendingMerge extends MergeOffer {
  createdAt: Date;
}

interface StoredMerge {
  primary_user_id: number;
  secondary_user_id: number;
  provider: MergeOffer['provider'];
  provider_id: string;
  created_at: string;
  restore_count: number;
}

const keyOf = (token: string) => `account_merge:${token}`;
/** Other characters are in no token of ours; one of them, NUL, the database would not even look up. */
const isOfOurs = (token: string) => /^[A-Za-z0-9_-]+$/.test(token);

/**
 * Stores the offer to merge two accounts. The token (43 characters) is the only credential of the merge: hand it to nobody but the
 * session of the primary account that has just proved the secondary's identity.
 */
export async function createMergeToken(app: App, offer: MergeOffer): Promise<string> {
  const token = urlSafeToken(app.random, 32);
  const stored: StoredMerge = {
    primary_user_id: offer.primaryUserId,
    secondary_user_id: offer.secondaryUserId,
    provider: offer.provider,
    provider_id: offer.providerId,
    created_at: app.clock.now().toISOString(),
    restore_count: 0,
  };
  await put(app, keyOf(token), stored, MERGE_TOKEN_SECONDS);
  return token;
}

/** Reads without using up. Null = unknown, expired or used. */
export async function peekMergeToken(app: App, token: string): Promise<PendingMerge | null> {
  return isOfOurs(token) ? toPending(await peek<StoredMerge>(app, keyOf(token))) : null;
}

/** Uses the token up in the caller's transaction: whoever asks at the same time waits, and a rollback gives it back. */
export async function takeMergeToken(t: App, token: string): Promise<PendingMerge | null> {
  return isOfOurs(token) ? toPending(await take<StoredMerge>(t, keyOf(token))) : null;
}

/**
 * Did the offer lose its ground since it was made? The session that made it was ended, by a new password for example; or the other
 * account's owner ended all of his, or holds that identity no more: what somebody else had linked to it is no proof of anything.
 */
export async function isOfferVoid(app: App, offer: PendingMerge, secondary: HeldIdentities): Promise<boolean> {
  const held = offer.provider === 'messenger' ? secondary.messengerId : linkedId(secondary, offer.provider);
  if (held === null || String(held) !== offer.providerId) return true;
  return haveSessionsEndedSince(app, [offer.primaryUserId, offer.secondaryUserId], offer.createdAt);
}

/**
 * Counts a merge that failed and was rolled back: the first three leave the token usable for the time it has left (a second at
 * least), the fourth ends it. Call it outside of the transaction that failed.
 */
export async function noteFailedMerge(app: App, token: string): Promise<void> {
  const isRenewed = await renewEntry(app.db, keyOf(token), { maxRestores: MAX_RESTORES, now: app.clock.now() });
  if (!isRenewed) await dropEntry(app.db, keyOf(token));
}

function toPending(stored: StoredMerge | null): PendingMerge | null {
  if (!stored) return null;
  return {
    primaryUserId: stored.primary_user_id,
    secondaryUserId: stored.secondary_user_id,
    provider: stored.provider,
    providerId: stored.provider_id,
    createdAt: new Date(stored.created_at),
  };
}
