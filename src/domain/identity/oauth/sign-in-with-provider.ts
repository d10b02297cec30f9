import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { createUser } from '../create-user.ts';
import { userNotActive } from '../errors.ts';
import { resolveReferrer } from '../resolve-referrer.ts';
import { authMethods } from '../rules.ts';
import { openSession, type SignIn } from '../sessions/open-session.ts';
import { closeAllSessions } from '../sessions/refresh-session.ts';
import type { UserRecord } from '../types.ts';
import { fetchOAuthIdentity } from './fetch-identity.ts';
import { assignToEmailOwner, lockUserByEmail, lockUserByProviderId, releaseEmail, setProviderId } from './repo.ts';
import { type CallbackBrowser, isSameBrowser, linkedId } from './rules.ts';
import { stateInvalid, takeState } from './state.ts';
import type { OAuthCallback, OAuthIdentity, OAuthProvider } from './types.ts';

const oauthStateForLinking = refusal('oauth_state_for_linking', 400, 'OAuth state was initiated for account linking, not login');

/** Of two concurrent first sign-ins the second must find the account of the first by another attempt (spec 01 H14). */
const MAX_ATTEMPTS = 4;

export interface ProviderSignIn extends OAuthCallback {
  /** Used only when this request creates the account. */
  referralCode: string | null;
  browser: CallbackBrowser;
}

/**
 * Completes a sign-in through a provider (spec 01 section 6): the user with this account of the provider, else the one whose e-mail the
 * provider has verified, else a new one.
 * @throws AppError 400 with the reasons of section 6 | 403 'User account is not active'
 */
export async function signInWithProvider(app: App, provider: OAuthProvider, request: ProviderSignIn): Promise<SignIn> {
  const state = await takeState(app, request.state);
  if (state.provider !== provider) throw stateInvalid();
  if (state.linking) throw oauthStateForLinking();
  if (!isSameBrowser(state.browserHash, request.browser)) throw stateInvalid();
  const identity = await fetchOAuthIdentity(app, provider, request, state.secrets);
  const { id, isNew } = await findOrCreate(app, provider, identity, request.referralCode);
  return { ...(await openSession(app, id, { deviceInfo: `oauth:${provider}` })), isNew };
}

interface Account {
  id: number;
  isNew: boolean;
}

async function findOrCreate(
  app: App,
  provider: OAuthProvider,
  identity: OAuthIdentity,
  referralCode: string | null,
): Promise<Account> {
  const email = identity.emailVerified ? identity.email : null;
  const referredById = await resolveReferrer(app, referralCode, { messengerId: null, email });
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(app, (t) => bindOrCreate(t, provider, { ...identity, email }, referredById));
    } catch (error) {
      const isConflict = isUniqueViolation(error) || (isAppError(error) && error.code === 'email_taken');
      if (!isConflict || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/** @param identity its e-mail is verified, or null */
async function bindOrCreate(
  t: App,
  provider: OAuthProvider,
  identity: OAuthIdentity,
  referredById: number | null,
): Promise<Account> {
  const known = await lockUserByProviderId(t.db, provider, identity.providerId);
  if (known) return { id: activeId(known), isNew: false };
  const owner = identity.email === null ? null : await lockUserByEmail(t.db, identity.email);
  if (owner && (await takesOver(t, owner))) {
    activeId(owner);
    // An account of the provider that is linked already stays: the address identifies the user, and nothing is replaced.
    if (linkedId(owner, provider) === null) await setProviderId(t.db, owner.id, provider, identity.providerId, t.clock.now());
    await forgetSessionUser(t, owner.id);
    return { id: owner.id, isNew: false };
  }
  const made = await createUser(t, {
    authType: provider,
    messengerId: null,
    username: identity.username,
    firstName: identity.firstName,
    lastName: identity.lastName,
    email: identity.email,
    emailVerified: identity.email !== null,
    passwordHash: null,
    language: null,
    referredById,
  });
  await setProviderId(t.db, made.id, provider, identity.providerId, t.clock.now());
  return { id: made.id, isNew: true };
}

/**
 * Whether the owner of the address gets this account. An unverified address may have been registered by another person beforehand
 * (spec 01 H3). An account without another sign-in method goes to the owner, without its password and sessions; an account with one
 * loses only the address and its password.
 */
async function takesOver(t: App, account: UserRecord): Promise<boolean> {
  activeId(account);
  if (account.emailVerified) return true;
  const hasOtherMethod = authMethods(account).some((method) => method !== 'email');
  if (hasOtherMethod) await releaseEmail(t.db, account.id, t.clock.now());
  else await assignToEmailOwner(t.db, account.id, t.clock.now());
  await closeAllSessions(t, account.id);
  await forgetSessionUser(t, account.id);
  return !hasOtherMethod;
}

/** Blocked and deleted users cannot sign in (spec 01 H27). */
function activeId(user: UserRecord): number {
  if (user.status !== 'active') throw userNotActive();
  return user.id;
}
