import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, refuse } from '../../../core/errors.ts';
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

/** Two first sign-ins at once: the one that comes second finds the account the first one made (spec 01 H14). */
const MAX_ATTEMPTS = 4;

export interface ProviderSignIn extends OAuthCallback {
  /** Counts for an account that this very request creates. */
  referralCode: string | null;
  browser: CallbackBrowser;
}

/**
 * Ends a sign-in over a provider (spec 01 section 6): the user with this account of the provider, else the one whose e-mail the
 * provider vouches for, else a new one.
 * @throws AppError 400 with the reasons of section 6 | 403 'User account is not active'
 */
export async function signInWithProvider(app: App, provider: OAuthProvider, request: ProviderSignIn): Promise<SignIn> {
  const state = await takeState(app, request.state);
  if (state.provider !== provider) throw stateInvalid();
  if (state.linking) {
    throw refuse('oauth_state_for_linking', 400, 'OAuth state was initiated for account linking, not login');
  }
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
      const isOutrun = isUniqueViolation(error) || (isAppError(error) && error.code === 'email_taken');
      if (!isOutrun || attempt >= MAX_ATTEMPTS) throw error;
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
    // One that is linked already stays: this way in was opened by the address, not by replacing the other account.
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
 * Does the owner of the address get this account? Of an account whose address was never proved, the address may be a stranger's
 * bait (spec 01 H3). With no other way in it goes to the owner without its password and sessions; one that somebody uses by another
 * way keeps everything but the address.
 */
async function takesOver(t: App, account: UserRecord): Promise<boolean> {
  activeId(account);
  if (account.emailVerified) return true;
  const hasOtherWay = authMethods(account).some((method) => method !== 'email');
  if (hasOtherWay) await releaseEmail(t.db, account.id, t.clock.now());
  else await assignToEmailOwner(t.db, account.id, t.clock.now());
  await closeAllSessions(t, account.id);
  await forgetSessionUser(t, account.id);
  return !hasOtherWay;
}

/** Blocked and deleted users get no way in (spec 01 H27). */
function activeId(user: UserRecord): number {
  if (user.status !== 'active') throw userNotActive();
  return user.id;
}
