import type { App } from '../../../core/app.ts';
import { peek, take } from '../../../core/short-lived.ts';
import { unauthorized } from '../errors.ts';
import { secretHash } from '../rules.ts';
import { openSession, type SignIn } from '../sessions/sessions.ts';
import { authenticationOptions, type ChallengeKey } from './passkeys.ts';
import { type SignInTicket, ticketKey } from './policy.ts';
import { type FactorProof, showFactor } from './show-factor.ts';

export const ticketInvalid = unauthorized('second_factor_ticket_invalid', 'The sign-in has expired, begin again');

const challengeOf = (ticket: string): ChallengeKey => `passkey:ticket:${secretHash(ticket)}`;

async function readTicket(app: App, ticket: string): Promise<SignInTicket> {
  const entry = await peek<SignInTicket>(app, ticketKey(ticket));
  if (!entry) throw ticketInvalid();
  return entry;
}

/**
 * The second part of a sign-in (spec 01 section 4.7). A wrong code leaves the ticket as it is; of two at once, one gets the session.
 * @throws AppError 401 | 403 'The code or passkey is not valid' | 403 'User account is not active' | 429
 */
export async function completeSignIn(app: App, ticket: string, proof: FactorProof): Promise<SignIn> {
  const { userId, deviceInfo, sessionsEndedAt } = await readTicket(app, ticket);
  await showFactor(app, userId, proof, challengeOf(ticket));
  if (!(await take(app, ticketKey(ticket)))) throw ticketInvalid();
  return openSession(app, userId, {
    ...(deviceInfo === null ? {} : { deviceInfo }),
    hasSecondFactor: true,
    sessionsEndedAt: sessionsEndedAt === null ? null : new Date(sessionsEndedAt),
  });
}

/** What a passkey of the account must sign to complete the sign-in. @throws AppError 401 */
export async function readSignInChallenge(app: App, ticket: string) {
  const { userId } = await readTicket(app, ticket);
  return authenticationOptions(app, userId, challengeOf(ticket));
}
