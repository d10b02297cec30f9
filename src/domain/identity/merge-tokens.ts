import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { urlSafeToken } from '../../core/random.ts';
import { drop, incrementBelow, peek, put, take } from '../../core/short-lived.ts';
import { linkedId } from './oauth/sign-in-with-provider.ts';
import type { OAuthProvider } from './oauth/types.ts';
import { haveSessionsEndedSince } from './sessions/sessions.ts';
import type { UserRecord } from './types.ts';

/** How long a merge may be confirmed (spec 01 section 1.3). */
export const MERGE_TOKEN_SECONDS = (30 * MINUTE_MS) / SECOND_MS;

/** How often a merge that failed may be tried again with the same token. */
const MAX_RESTORES = 3;

/** Two accounts that may be merged: the signed-in one that tried to link an identity, and the one that has it. */
export interface MergeOffer {
  primaryUserId: number;
  secondaryUserId: number;
  /** The provider of the identity that both accounts proved. */
  provider: 'messenger' | OAuthProvider;
  providerId: string;
}

/** The identities by which an account can be merged. */
type LinkedIdentities = Pick<UserRecord, 'messengerId' | 'googleId' | 'yandexId' | 'discordId' | 'vkId'>;

/** A merge offer that waits for its confirmation. */
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
/** No token has other characters; the database refuses one of them, NUL, in a query. */
const isTokenText = (token: string) => /^[A-Za-z0-9_-]+$/.test(token);

/**
 * Stores the offer to merge two accounts. The token (43 characters) is the only credential of the merge: return it only to the
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
  return isTokenText(token) ? toPending(await peek<StoredMerge>(app, keyOf(token))) : null;
}

/** Uses the token up in the caller's transaction: a concurrent request waits, and a rollback restores the token. */
export async function takeMergeToken(t: App, token: string): Promise<PendingMerge | null> {
  return isTokenText(token) ? toPending(await take<StoredMerge>(t, keyOf(token))) : null;
}

/**
 * Whether the offer is void: the sessions of one of the accounts were ended since, for example by a new password, or the secondary
 * account no longer has the identity.
 */
export async function isOfferVoid(app: App, offer: PendingMerge, secondary: LinkedIdentities): Promise<boolean> {
  const identity = offer.provider === 'messenger' ? secondary.messengerId : linkedId(secondary, offer.provider);
  if (identity === null || String(identity) !== offer.providerId) return true;
  return haveSessionsEndedSince(app, [offer.primaryUserId, offer.secondaryUserId], offer.createdAt);
}

/**
 * Counts a merge that failed and was rolled back: the first three leave the token usable until it expires (for a second at
 * least), the fourth deletes it. Call it outside of the transaction that failed.
 */
export async function recordFailedMerge(app: App, token: string): Promise<void> {
  const isUsable = await incrementBelow(app, keyOf(token), 'restore_count', MAX_RESTORES);
  if (!isUsable) await drop(app, keyOf(token));
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
