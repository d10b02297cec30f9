import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { putIfAbsent } from '../../../core/short-lived.ts';
import { unauthorized } from '../errors.ts';
import { signedPartHash } from '../rules.ts';
import type { ProvedMessengerUser } from '../sign-in-with-messenger.ts';

const oidcUserIdMissing = unauthorized('oidc_user_id_missing', 'Missing user ID in OIDC claims');
const oidcUserIdInvalid = unauthorized('oidc_user_id_invalid', 'Invalid user ID in OIDC claims');
const idTokenInvalid = unauthorized('id_token_invalid', 'Invalid or expired Messenger OIDC token');

export const oidcNotConfigured = refusal('oidc_not_configured', 400, 'Messenger OIDC is not configured');

const MIN_GUARD_SECONDS = 60;

/**
 * Reads the messenger user of an OpenID Connect token; every token is accepted once, for sign-in and linking together (spec 01
 * sections 1.3, 3 and 5.1). May fetch the issuer's keys: never in a transaction.
 * @throws AppError 400 'Messenger OIDC is not configured' | 401 with the reasons of section 5.1 | 503 when the keys cannot be read
 */
export async function proveIdToken(app: App, idToken: string): Promise<ProvedMessengerUser> {
  const { messengerIdentity } = app.ports;
  if (!messengerIdentity.isOidcEnabled()) throw oidcNotConfigured();
  const identity = await messengerIdentity.verifyIdToken(idToken);
  if (!identity) throw tokenInvalid();
  // Until the token expires, longer than the 600 s of spec 01 section 1.3: otherwise it could be used again.
  const secondsLeft = Math.ceil((identity.expiresAt.getTime() - app.clock.now().getTime()) / SECOND_MS);
  const guardSeconds = Math.max(secondsLeft, MIN_GUARD_SECONDS);
  const isFirstUse = await putIfAbsent(app, `oidc_token:${signedPartHash(idToken)}`, { used: true }, guardSeconds);
  if (!isFirstUse) throw tokenInvalid();
  const { userId, username, firstName, lastName, locale } = identity;
  if (userId === null) throw oidcUserIdMissing();
  if (!/^[1-9]\d{0,15}$/.test(userId) || !Number.isSafeInteger(Number(userId))) throw oidcUserIdInvalid();
  return { messengerId: Number(userId), username, firstName, lastName, language: locale?.slice(0, 2) ?? null };
}

function tokenInvalid() {
  return idTokenInvalid();
}
