import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { isRowId } from '../../../core/row-id.ts';
import { put, take } from '../../../core/short-lived.ts';
import { forgetSessionUser } from '../authenticate.ts';
import { createUser, resolveReferrer } from '../create-account.ts';
import { userNotActive } from '../errors.ts';
import { authMethods, secretHash } from '../rules.ts';
import { closeAllSessions, openSession, type SignIn } from '../sessions/sessions.ts';
import type { UserRecord } from '../types.ts';
import { OAuthError } from './ports.ts';
import { assignToEmailOwner, lockUserByEmail, lockUserByProviderId, releaseEmail, setProviderId } from './repo.ts';
import {
  isOAuthProvider,
  OAUTH_PROVIDERS,
  type OAuthCallback,
  type OAuthIdentity,
  type OAuthProvider,
  type OAuthSecrets,
  PROVIDER_NAMES,
} from './types.ts';

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

const oauthExchangeFailed = refusal('oauth_exchange_failed', 400, 'Failed to exchange authorization code');
const oauthUserInfoFailed = refusal('oauth_user_info_failed', 400, 'Failed to fetch user information from provider');

/**
 * Exchanges the provider's code for the user's identity. An outside call: never in a transaction.
 * @throws AppError 400 not available | 'Failed to exchange authorization code' | 'Failed to fetch user information from provider'
 */
export async function fetchOAuthIdentity(
  app: App,
  provider: OAuthProvider,
  callback: OAuthCallback,
  secrets: OAuthSecrets,
): Promise<OAuthIdentity> {
  if (!app.ports.oauth.isEnabled(provider)) throw providerUnavailable();
  try {
    return await app.ports.oauth.fetchIdentity(provider, callback, secrets);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    app.log.warn({ provider, reason: error.message }, 'a sign-in through a provider failed');
    throw error.step === 'exchange' ? oauthExchangeFailed() : oauthUserInfoFailed();
  }
}

/** Providers that are enabled for sign-in, in the order of the interface. */
export function listOAuthProviders(app: App): { name: OAuthProvider; displayName: string }[] {
  return OAUTH_PROVIDERS.filter((name) => app.ports.oauth.isEnabled(name)).map((name) => ({
    name,
    displayName: PROVIDER_NAMES[name],
  }));
}

/** The user's account at a provider as text; null when none is linked. */
export function linkedId(
  user: Pick<UserRecord, 'googleId' | 'yandexId' | 'discordId' | 'vkId'>,
  provider: OAuthProvider,
): string | null {
  switch (provider) {
    case 'google':
      return user.googleId;
    case 'yandex':
      return user.yandexId;
    case 'discord':
      return user.discordId;
    case 'vk':
      return user.vkId === null ? null : String(user.vkId);
  }
}

/** The browser that sent a callback. */
interface CallbackBrowser {
  /** Secret in the browser's cookie. */
  secret: string | null;
  /** The browser states that the page is of our own origin; it then always sends our cookies. */
  isSameOrigin: boolean;
}

/**
 * Whether this browser may complete the sign-in that a state was made for (spec 01 H19). A state is bound to the cookie of the browser that
 * began. A browser that can send cookies must send it: without this check an attacker could send others a callback that signs them in
 * to the attacker's account. Clients without cookies (apps, pages of another site) have the state only.
 */
export function isSameBrowser(browserHash: string | null, browser: CallbackBrowser): boolean {
  if (browser.secret === null) return !browser.isSameOrigin;
  return browserHash === secretHash(browser.secret);
}

const STATE_BYTES = 32;
const STATE_SECONDS = 600;

/** `oauth_state:{state}`. */
interface StoredState {
  provider: string;
  linking?: 'true';
  user_id?: string;
  /** ISO 8601, UTC. */
  created_at?: string;
  code_verifier?: string;
  nonce?: string;
  /** Hash of the secret in the browser's cookie. */
  browser?: string;
}

/** What an OAuth flow was begun for. */
interface OAuthState {
  /** Null when the stored text is not a provider. */
  provider: OAuthProvider | null;
  /** Null for a sign-in. `userId` is null when the stored text is not an id. */
  linking: { userId: number | null; createdAt: Date } | null;
  secrets: OAuthSecrets;
  browserHash: string | null;
}

export interface OAuthStart {
  authorizeUrl: string;
  state: string;
}

/** Who begins a flow: a browser that is not signed in, or a signed-in user. */
type OAuthPurpose = { browserSecret: string } | { linkingUserId: number };

/**
 * Begins an OAuth flow: a state that is valid once within 10 minutes, and the address of the provider's page.
 * @throws AppError 400 'Requested OAuth provider is not available'
 */
export async function beginOAuth(app: App, provider: OAuthProvider, purpose: OAuthPurpose): Promise<OAuthStart> {
  if (!app.ports.oauth.isEnabled(provider)) throw providerUnavailable();
  const state = urlSafeToken(app.random, STATE_BYTES);
  const { authorizeUrl, secrets } = await app.ports.oauth.begin(provider, state, (bytes) => urlSafeToken(app.random, bytes));
  const stored: StoredState = {
    provider,
    ...('linkingUserId' in purpose
      ? { linking: 'true', user_id: String(purpose.linkingUserId), created_at: app.clock.now().toISOString() }
      : { browser: secretHash(purpose.browserSecret) }),
    ...(secrets.codeVerifier ? { code_verifier: secrets.codeVerifier } : {}),
    ...(secrets.nonce ? { nonce: secrets.nonce } : {}),
  };
  await put(app, stateKey(state), stored, STATE_SECONDS);
  return { authorizeUrl, state };
}

/**
 * Consumes a state: of concurrent callbacks with one state, one gets it.
 * @throws AppError 400 'Invalid or expired OAuth state'
 */
export async function takeState(app: App, state: string): Promise<OAuthState> {
  const stored = await take<StoredState>(app, stateKey(state));
  if (!stored) throw stateInvalid();
  return {
    provider: isOAuthProvider(stored.provider) ? stored.provider : null,
    linking: stored.linking === 'true' ? { userId: idOf(stored.user_id), createdAt: new Date(stored.created_at ?? 0) } : null,
    secrets: {
      ...(stored.code_verifier ? { codeVerifier: stored.code_verifier } : {}),
      ...(stored.nonce ? { nonce: stored.nonce } : {}),
    },
    browserHash: stored.browser ?? null,
  };
}

/** The interface limits a state to 128 characters; a NUL is removed, because the database refuses it. */
function stateKey(state: string): string {
  return `oauth_state:${state.replaceAll('\u0000', '')}`;
}

function idOf(text: string | undefined): number | null {
  if (text === undefined || !/^[1-9]\d{0,9}$/.test(text)) return null;
  return isRowId(Number(text)) ? Number(text) : null;
}

export const stateInvalid = refusal('oauth_state_invalid', 400, 'Invalid or expired OAuth state');
export const providerUnavailable = refusal('oauth_provider_unavailable', 400, 'Requested OAuth provider is not available');

/** With what the exchange of a provider's code is refused. */
export const IDENTITY_REFUSES = [providerUnavailable, oauthExchangeFailed, oauthUserInfoFailed];

export const PROVIDER_SIGN_IN_REFUSES = [stateInvalid, oauthStateForLinking, userNotActive, ...IDENTITY_REFUSES];
