import type { App } from '../../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { put } from '../../../core/short-lived.ts';
import { isStaff } from '../authenticate.ts';
import { userNotActive } from '../errors.ts';
import { secretHash } from '../rules.ts';
import { countRecoveryCodes, findSignInState, listFactors } from './repo.ts';

/** How a user can show a second factor. */
export type FactorMethod = 'passkey' | 'totp' | 'recovery_code';

const MESSAGE = 'Enter a code of your authenticator, use your passkey, or a recovery code';

export const secondFactorRequired = refusal(
  'second_factor_required',
  403,
  { code: 'second_factor_required', message: MESSAGE, ticket: 'Zx0pQ…', methods: ['totp', 'recovery_code'], expires_in: 300 },
  (ticket: string, methods: readonly FactorMethod[]) => ({
    detail: { code: 'second_factor_required', message: MESSAGE, ticket, methods, expires_in: TICKET_SECONDS },
  }),
);

const TICKET_BYTES = 32;
const TICKET_SECONDS = (5 * MINUTE_MS) / SECOND_MS;

/** A sign-in whose first part was right. */
export interface SignInTicket {
  userId: number;
  deviceInfo: string | null;
  /** ISO 8601 or null, as the first part saw it: a later end of all sessions, for example by another password, makes the ticket void. */
  sessionsEndedAt: string | null;
}

export const ticketKey = (ticket: string) => `second_factor:${secretHash(ticket)}`;

/** Whether `SECOND_FACTOR_FOR` offers a second factor to this user, and asks for the one that he has. */
export async function isOffered(app: App, userId: number): Promise<boolean> {
  const offered = app.settings.get('SECOND_FACTOR_FOR');
  return offered === 'everyone' || (offered === 'staff' && (await isStaff(app, userId)));
}

/**
 * What the user can show; empty without a factor. For changes of an account that has one, also while none is asked for at the sign-in: the
 * factor counts again later.
 */
export async function readMethods(app: App, userId: number): Promise<FactorMethod[]> {
  const kinds = new Set((await listFactors(app.db, userId)).map(({ kind }) => kind));
  if (kinds.size === 0) return [];
  const codesLeft = await countRecoveryCodes(app.db, userId);
  const all: FactorMethod[] = ['passkey', 'totp', 'recovery_code'];
  return all.filter((method) => (method === 'recovery_code' ? codesLeft > 0 : kinds.has(method)));
}

/**
 * The gate behind every first part of a sign-in (spec 01 section 4.7).
 * @param passwordHash of the first part: the hash a password was checked against
 * @throws AppError 403 {code: 'second_factor_required', ticket, methods, expires_in} for a user with a second factor | 403 'User account is
 *   not active' when the password is another one by now
 */
export async function requireSecondFactor(
  app: App,
  userId: number,
  { deviceInfo, passwordHash }: { deviceInfo: string | null; passwordHash: string | null },
): Promise<void> {
  if (!(await isOffered(app, userId))) return;
  const methods = await readMethods(app, userId);
  if (methods.length === 0) return;
  const state = await findSignInState(app.db, userId);
  if (!state || (passwordHash !== null && state.passwordHash !== passwordHash)) throw userNotActive();
  const ticket = urlSafeToken(app.random, TICKET_BYTES);
  const sessionsEndedAt = state.sessionsEndedAt?.toISOString() ?? null;
  const entry: SignInTicket = { userId, deviceInfo, sessionsEndedAt };
  await put(app, ticketKey(ticket), entry, TICKET_SECONDS);
  throw secondFactorRequired(ticket, methods);
}
