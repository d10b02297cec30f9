import type { App } from '../../../core/app.ts';
import { peek, put, take } from '../../../core/short-lived.ts';

/** `web_auth:{token}` (spec 01 section 1.3): a sign-in that begins in a browser and is confirmed in the messenger. */

export const PENDING_SECONDS = 300;
const LINKED_SECONDS = 120;
/** The shortest token that the bot accepts, and the longest that fits into a button. */
const TOKEN = /^[A-Za-z0-9_-]{16,48}$/;

export interface PendingSignIn {
  status: 'pending';
  /** ISO 8601, UTC. */
  created_at: string;
  /** Client of the request, shown before the confirmation (spec 01 H19); null = unknown. */
  ip: string | null;
  device: string | null;
}

export interface LinkedSignIn {
  status: 'linked';
  messenger_id: number;
  user_id: number;
  linked_at: string;
}

export type StoredSignIn = PendingSignIn | LinkedSignIn;

const keyOf = (token: string) => `web_auth:${token}`;

export function isSignInToken(token: string): boolean {
  return TOKEN.test(token);
}

export async function storePending(app: App, token: string, entry: PendingSignIn): Promise<void> {
  await put(app, keyOf(token), entry, PENDING_SECONDS);
}

/** Call in the transaction that took the pending entry. */
export async function storeLinked(t: App, token: string, entry: LinkedSignIn): Promise<void> {
  await put(t, keyOf(token), entry, LINKED_SECONDS);
}

export async function peekSignIn(app: App, token: string): Promise<StoredSignIn | null> {
  return isSignInToken(token) ? peek<StoredSignIn>(app, keyOf(token)) : null;
}

export async function takeSignIn(app: App, token: string): Promise<StoredSignIn | null> {
  return isSignInToken(token) ? take<StoredSignIn>(app, keyOf(token)) : null;
}
