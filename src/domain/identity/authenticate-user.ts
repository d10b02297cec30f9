import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { sessionEnded, tokenPayloadInvalid, unauthorized, userNotActive, userNotFound } from './errors.ts';
import { findSessionUser, listOpenSessions, type OpenSession, touchActivity } from './repo.ts';
import { INIT_DATA_MAX_AGE_SECONDS } from './rules.ts';
import { isFromEndedSession, userIdOf, verifyToken } from './sessions/sign-tokens.ts';
import type { SessionUser } from './types.ts';

export const authenticationRequired = unauthorized('authentication_required', 'Authentication required');
export const accessTokenInvalid = unauthorized('access_token_invalid', 'Invalid or expired token');
const otherMessengerAccount = unauthorized(
  'other_messenger_account',
  'Session belongs to a different Messenger account. Please restart the app.',
);

/** How long a session's user is cached; a change reaches every instance with its commit. */
const TRUST_MS = 5 * SECOND_MS;
const ACTIVITY_STEP_MS = 5 * MINUTE_MS;

const userKey = (userId: number) => `user:${userId}`;

/**
 * The gate of every cabinet request (spec 01 section 4.2, rows in their order).
 * @throws AppError 401 | 404 'User not found' | 403 'User account is not active' | 403 {code: 'blacklisted'} | 503 {code: 'maintenance'}
 *   | 403 {code: 'channel_subscription_required'}
 */
export async function authenticateUser(
  app: App,
  credentials: { bearer: string | null; initData: string | null },
): Promise<UserActor> {
  if (!credentials.bearer) throw authenticationRequired();
  const payload = await verifyToken(app, credentials.bearer, 'access');
  if (!payload) throw accessTokenInvalid();
  const userId = userIdOf(payload);
  if (userId === null) throw tokenPayloadInvalid();
  const user = await readSessionUser(app, userId);
  if (!user) throw userNotFound();
  if (user.status !== 'active') throw userNotActive();
  if (isFromEndedSession(payload, user.sessionsEndedAt)) throw sessionEnded();
  checkSameMessengerAccount(app, user, credentials.initData);
  await passGates(app, user);
  return { kind: 'user', userId };
}

/** Rows 7 to 9 for a known, active user: blacklist, maintenance, required channels; then records the activity. */
export async function passGates(app: App, user: SessionUser): Promise<void> {
  await checkGates(app, user);
  recordActivity(app, user);
}

/** A gate that is switched off returns undefined, so that it costs no `await`. */
async function checkGates(app: App, user: SessionUser): Promise<void> {
  for (const gate of app.ports.gates) {
    const pending = gate(app, user);
    if (pending) await pending;
  }
}

/**
 * Whether sessions that were signed in may go on: the gate of `authenticateUser` without the access token, whose end is not the session's (spec
 * 10 U3). One statement for all; a gate that is switched on may ask for each user.
 * @returns in the order of the sessions the user, or the refusal (401, 403, 503)
 */
export async function recheckSessions(
  app: App,
  sessions: readonly { userId: number; sessionId: string }[],
): Promise<PromiseSettledResult<OpenSession>[]> {
  const open = new Map((await listOpenSessions(app.db, sessions, app.clock.now())).map((found) => [found.sessionId, found]));
  return Promise.allSettled(
    sessions.map(async ({ sessionId }) => {
      const session = open.get(sessionId);
      if (!session) throw sessionEnded();
      if (session.status !== 'active') throw userNotActive();
      await checkGates(app, session);
      return session;
    }),
  );
}

/** Facts of a session's user, at most 5 seconds old. Not for use inside a transaction. */
export function readSessionUser(app: App, userId: number): Promise<SessionUser | null> {
  return app.cache.read(userKey(userId), TRUST_MS, () => findSessionUser(app.db, userId));
}

/** Call where status, names, e-mail, its verification or the messenger id of a user change, in the same transaction. */
export async function forgetSessionUser(t: App, userId: number): Promise<void> {
  await t.cache.forget(t, [userKey(userId)]);
}

/** Row 6: a mini-app opened by another messenger account must not use this user's session. */
function checkSameMessengerAccount(app: App, user: SessionUser, initData: string | null): void {
  if (!initData || user.messengerId === null) return;
  const identity = app.ports.messengerIdentity.verifyInitData(initData, INIT_DATA_MAX_AGE_SECONDS);
  if (!identity || identity.messengerId === null) {
    app.log.info({ userId: user.id }, 'identity data of a request could not be verified');
    return;
  }
  if (identity.messengerId === user.messengerId) return;
  throw otherMessengerAccount();
}

/** Moves `last_activity`, at most every 5 minutes and in the background (spec 01 H22). */
function recordActivity(app: App, user: SessionUser): void {
  const now = app.clock.now();
  if (user.lastActivity && now.getTime() - user.lastActivity.getTime() < ACTIVITY_STEP_MS) return;
  user.lastActivity = now;
  // Any failure: the time of the last activity is recorded at the next request.
  touchActivity(app.db, user.id, now).catch((error: unknown) => app.log.warn({ err: error }, 'activity was not recorded'));
}
