import type { App } from '../../../core/app.ts';
import type { SignIn } from '../sessions/open-session.ts';
import { signInAsMessengerUser } from '../sign-in-with-messenger.ts';
import { proveIdToken } from './prove-id-token.ts';

/**
 * Signs in with an OpenID Connect token of the messenger; the first time creates the account (spec 01 section 5.1).
 * @param referralCode counts for an account that this very request creates
 * @throws AppError 400 'Messenger OIDC is not configured' | 401 | 403 'User account is not active' | 503
 */
export async function signInWithIdToken(app: App, idToken: string, referralCode: string | null): Promise<SignIn> {
  return signInAsMessengerUser(app, await proveIdToken(app, idToken), { referralCode });
}
