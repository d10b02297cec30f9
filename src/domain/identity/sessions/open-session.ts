import type { App } from '../../../core/app.ts';
import type { Random } from '../../../core/random.ts';
import { readEffectiveAccess } from '../../access/read-effective-access.ts';
import { userNotActive } from '../errors.ts';
import { findById } from '../repo.ts';
import { secretHash } from '../rules.ts';
import type { UserRecord } from '../types.ts';
import { type Admission, insertSession } from './repo.ts';
import { accessSeconds, refreshExpiry, signAccessToken, signRefreshToken } from './sign-tokens.ts';
import type { TokenPair } from './types.ts';

/** The result of every sign-in. */
export interface SignIn extends TokenPair {
  user: UserRecord;
  /** Whether this request created the account; set by sign-ins that may create one. */
  isNew?: boolean;
}

export interface SessionOptions {
  /** How the session began: null, `oauth:{provider}`, `deep_link` or `merge`. */
  deviceInfo?: string;
  /** The hash a password was checked against: a reset in between makes the sign-in fail. */
  passwordHash?: string;
}

/**
 * The last step of every sign-in: records it and issues a token pair of a new family (spec 01 sections 2.1 and 5). Not for use inside
 * a transaction; the account must be committed.
 * @throws AppError 403 'User account is not active', also when that or the password has just changed
 */
export async function openSession(app: App, userId: number, options: SessionOptions = {}): Promise<SignIn> {
  const now = app.clock.now();
  const expiresAt = refreshExpiry(app);
  const refreshToken = await signRefreshToken(app, userId, expiresAt);
  const admission = await insertSession(app.db, {
    userId,
    tokenHash: secretHash(refreshToken),
    familyId: newFamilyId(app.random),
    deviceInfo: options.deviceInfo ?? null,
    expiresAt,
    now,
    ...(options.passwordHash === undefined ? {} : { passwordHash: options.passwordHash }),
  });
  const user = admission ? await findById(app.db, userId) : null;
  if (!admission || !user) throw userNotActive();
  return { ...(await tokenPair(app, user, refreshToken, admission)), user };
}

/** An access token with the user's current roles, for a refresh token that is stored already. */
export async function tokenPair(
  app: App,
  user: { id: number; messengerId: number | null },
  refreshToken: string,
  { sessionsEndedAt, familyId }: Admission,
): Promise<TokenPair> {
  const access = await readEffectiveAccess(app, user.id);
  const accessToken = await signAccessToken(app, {
    userId: user.id,
    messengerId: user.messengerId,
    permissions: access.permissions,
    roles: access.roles,
    roleLevel: access.level,
    sessionsEndedAt,
    sessionId: familyId,
  });
  return { accessToken, refreshToken, expiresIn: accessSeconds(app) };
}

/** A random id in the form of a UUID (the column's type). */
function newFamilyId(random: Random): string {
  return random
    .bytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
