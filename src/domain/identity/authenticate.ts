import type { AdminActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { authorizeAdmin, isConfigAdmin, readEffectiveAccess } from '../access/effective-access.ts';
import { TOP_LEVEL } from '../access/permissions.ts';
import { sessionEnded, tokenPayloadInvalid, unauthorized, userNotActive, userNotFound } from './errors.ts';
import type { InitDataFault } from './ports.ts';
import { findSessionUser, findSessionUserByMessengerId, listOpenSessions, type OpenSession, touchActivity } from './repo.ts';
import { INIT_DATA_MAX_AGE_SECONDS, MINIAPP_INIT_DATA_MAX_AGE_SECONDS } from './rules.ts';
import { isFromEndedSession, sessionOf, userIdOf, verifyToken } from './sessions/sign-tokens.ts';
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
  return { kind: 'user', userId, session: sessionOf(payload) };
}

/** Rows 7 to 9 for a known, active user: blacklist, maintenance, required channels; then records the activity. */
async function passGates(app: App, user: SessionUser): Promise<void> {
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

/**
 * The gate of the admin area: the cabinet gate first, then one permission (spec 01 section 4.5).
 * @param permission `section:action`
 * @throws AppError what `authenticateUser` throws | 403 'Permission denied: {reason}'
 */
export async function authenticateAdmin(
  app: App,
  credentials: { bearer: string | null; initData: string | null },
  permission: string,
  client: { ip: string | null; userAgent: string | null },
): Promise<AdminActor> {
  const { user, actor } = await identifyAdmin(app, credentials);
  return authorizeAdmin(app, user, permission, { ip: client.ip, session: actor.session ?? null });
}

/** The first step of that gate: the user, so that a refusal of the second step is recorded with a name. */
export async function identifyAdmin(
  app: App,
  credentials: { bearer: string | null; initData: string | null },
): Promise<{ user: SessionUser; actor: UserActor }> {
  const actor = await authenticateUser(app, credentials);
  const user = await readSessionUser(app, actor.userId);
  if (!user) throw userNotFound();
  return { user, actor };
}

export const initDataRefused = refusal('unauthorized', 401, 'Init data is too old', (detail: string) => ({ detail }));
export const invalidUser = refusal('invalid_user', 400, 'Invalid messenger user payload');

const FAULTS: Record<InitDataFault, string> = {
  bot_token_missing: 'Bot token is not configured',
  signature_missing: 'Missing init data signature',
  signature_invalid: 'Invalid init data signature',
  auth_date_invalid: 'Invalid auth_date value',
  too_old: 'Init data is too old',
  user_unreadable: 'Invalid user payload',
};

/**
 * Reads the messenger id of a mini-app call from the signed data in its body (spec 02 section 12.1, H24). Data without `auth_date`, or older than
 * 24 hours, is refused. The text is a credential: it is used for this check only.
 * @returns messenger id
 * @throws AppError 401 unauthorized | 400 invalid_user
 */
function readMiniappIdentity(app: App, initData: string): number {
  if (initData.trim() === '') throw initDataRefused('Missing initData');
  const reading = app.ports.messengerIdentity.readInitData(initData, MINIAPP_INIT_DATA_MAX_AGE_SECONDS);
  if (reading.fault !== null) throw initDataRefused(FAULTS[reading.fault]);
  if (!reading.hasUser) throw invalidUser();
  const { messengerId } = reading.identity;
  if (messengerId === null) throw invalidUser({ detail: 'Invalid messenger user identifier' });
  return messengerId;
}

/**
 * The user behind a mini-app call; only the account's status is checked.
 * @throws AppError 401 | 400 | 404 user_not_found | 403 user_not_active
 */
export async function identifyMiniappUser(app: App, initData: string): Promise<SessionUser> {
  const user = await findSessionUserByMessengerId(app.db, readMiniappIdentity(app, initData));
  if (!user) throw userNotFound();
  if (user.status !== 'active') throw userNotActive();
  return user;
}

/**
 * The gate of every mini-app call but the maintenance status: identity, then the checks of the cabinet: status, blacklist,
 * maintenance, required channels (spec 02 H6).
 * @throws AppError as `identifyMiniappUser` | 403 {code: 'blacklisted'} | 503 {code: 'maintenance'} | 403 {code:
 *   'channel_subscription_required'}
 */
export async function authenticateMiniapp(app: App, initData: string): Promise<UserActor> {
  const user = await identifyMiniappUser(app, initData);
  await passGates(app, user);
  return { kind: 'user', userId: user.id };
}

/** What the caller may do; a config admin without roles may do everything (spec 01 section 5.3). */
export async function readMyAccess(app: App, actor: UserActor) {
  const [user, access] = await Promise.all([readSessionUser(app, actor.userId), readEffectiveAccess(app, actor.userId)]);
  if (access.roleIds.length === 0 && user && isConfigAdmin(app, user)) {
    return { permissions: ['*:*'], roles: ['superadmin'], level: TOP_LEVEL };
  }
  return { permissions: access.permissions, roles: access.roles, level: access.level };
}

/** Whether the caller is a config admin or has a role with a level. */
export async function isAdmin(app: App, actor: UserActor): Promise<boolean> {
  const [user, access] = await Promise.all([readSessionUser(app, actor.userId), readEffectiveAccess(app, actor.userId)]);
  return access.level > 0 || (user !== null && isConfigAdmin(app, user));
}

/** Whether the user has any rights beyond a customer's: a config admin, or any role in effect, of whatever level. */
export async function isStaff(app: App, userId: number): Promise<boolean> {
  const [user, access] = await Promise.all([readSessionUser(app, userId), readEffectiveAccess(app, userId)]);
  return access.roleIds.length > 0 || (user !== null && isConfigAdmin(app, user));
}
