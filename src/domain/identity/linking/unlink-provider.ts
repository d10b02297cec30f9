import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { userNotActive, userNotFound } from '../errors.ts';
import { lockUserById, setProviderId } from '../oauth/repo.ts';
import { linkedId } from '../oauth/rules.ts';
import type { OAuthProvider } from '../oauth/types.ts';
import { authMethods, canSignInByEmail } from '../rules.ts';
import type { UserRecord } from '../types.ts';

export const providerNotLinked = refusal('provider_not_linked', 400, 'Provider is not linked to your account');
const lastAuthMethod = refusal('last_auth_method', 400, 'Cannot unlink last authentication method');

/**
 * Unlinks an account of a provider from the caller's account, under its lock: the second of two concurrent requests sees the result of
 * the first (spec 01 section 7).
 * @throws AppError 400 'Provider is not linked to your account' | 400 'Cannot unlink last authentication method'
 */
export async function unlinkProvider(app: App, actor: UserActor, provider: OAuthProvider): Promise<void> {
  await inTransaction(app, async (t) => {
    const user = await lockUserById(t.db, actor.userId);
    if (!user) throw userNotFound();
    if (user.status !== 'active') throw userNotActive();
    if (linkedId(user, provider) === null) throw providerNotLinked();
    if (usableMethods(t, user) <= 1) throw lastAuthMethod();
    await setProviderId(t.db, user.id, provider, null, t.clock.now());
    await forgetSessionUser(t, user.id);
  });
}

/** Number of sign-in methods that can be used now; an e-mail counts only if its owner can sign in with it (spec 01 H21). */
function usableMethods(app: App, user: UserRecord): number {
  const byEmail =
    app.settings.get('CABINET_EMAIL_AUTH_ENABLED') &&
    canSignInByEmail(user, app.settings.get('CABINET_EMAIL_VERIFICATION_ENABLED'));
  return authMethods(user).filter((method) => method !== 'email' || byEmail).length;
}
