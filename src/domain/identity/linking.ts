import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { forgetSessionUser } from './authenticate.ts';
import { sessionEnded, userNotActive, userNotFound } from './errors.ts';
import { createMergeToken, type MergeOffer } from './merge-tokens.ts';
import { ID_TOKEN_REFUSES, proveIdToken } from './messenger-sign-in.ts';
import { findIdByProviderId, lockUserById, setProviderId } from './oauth/repo.ts';
import {
  beginOAuth,
  fetchOAuthIdentity,
  IDENTITY_REFUSES,
  linkedId,
  listOAuthProviders,
  type OAuthStart,
  stateInvalid,
  takeState,
} from './oauth/sign-in-with-provider.ts';
import type { OAuthCallback, OAuthIdentity, OAuthProvider } from './oauth/types.ts';
import type { WidgetData } from './ports.ts';
import { findById, findByMessengerId, type MessengerAccount, setMessengerAccount } from './repo.ts';
import { authMethods, canSignInByEmail, cleanName, displayedName, INIT_DATA_MAX_AGE_SECONDS } from './rules.ts';
import { haveSessionsEndedSince } from './sessions/sessions.ts';
import type { UserRecord } from './types.ts';

const messengerJustLinked = refusal('messenger_just_linked', 409, 'This Messenger account was just linked to another user');
const initDataInvalid = refusal('init_data_invalid', 400, 'Invalid or expired Messenger initData');
const widgetDataInvalid = refusal('widget_data_invalid', 400, 'Invalid or expired Messenger Login Widget data');

/** What the messenger signed: mini-app data, an OpenID Connect token or the login widget's fields. */
export type MessengerProof = { initData: string } | { idToken: string } | { widget: WidgetData };

/**
 * Links a messenger account, proved by signed data, to the caller's account and fills empty names (spec 01 section 7). When it belongs to
 * another user, the result is a merge token for the two accounts.
 * @throws AppError 400 'Messenger is already linked to your account' | 400 or 401 for an invalid proof | 403 | 503 |
 *   409 'This Messenger account was just linked to another user'
 */
export async function linkMessenger(app: App, actor: UserActor, proof: MessengerProof): Promise<LinkOutcome> {
  const begunAt = app.clock.now();
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (user.messengerId !== null) throw messengerAlreadyLinked();
  const proved = await prove(app, proof);
  try {
    return await inTransaction(app, (t) => bind(t, actor.userId, proved, begunAt));
  } catch (error) {
    if (!isUniqueViolation(error, 'messenger_id')) throw error;
    throw messengerJustLinked();
  }
}

async function bind(t: App, userId: number, proved: MessengerAccount, begunAt: Date): Promise<LinkOutcome> {
  const user = await lockUserById(t.db, userId);
  if (!user) throw userNotFound();
  if (user.status !== 'active') throw userNotActive();
  // The session may have been closed while the proof was being checked (spec 01 H8).
  if (await haveSessionsEndedSince(t, [userId], begunAt)) throw sessionEnded();
  if (user.messengerId !== null) throw messengerAlreadyLinked();
  const owner = await findByMessengerId(t.db, proved.messengerId);
  if (owner) {
    const offer: MergeOffer = {
      primaryUserId: userId,
      secondaryUserId: owner.id,
      provider: 'messenger',
      providerId: String(proved.messengerId),
    };
    return { kind: 'merge_required', mergeToken: await createMergeToken(t, offer) };
  }
  const account = {
    messengerId: proved.messengerId,
    username: user.username ?? cleanName(proved.username),
    firstName: user.firstName ?? displayedName(t, proved.firstName),
    lastName: user.lastName ?? displayedName(t, proved.lastName),
  };
  await setMessengerAccount(t.db, userId, account, t.clock.now());
  await forgetSessionUser(t, userId);
  return { kind: 'linked' };
}

async function prove(app: App, proof: MessengerProof): Promise<MessengerAccount> {
  const { messengerIdentity } = app.ports;
  if ('idToken' in proof) return proveIdToken(app, proof.idToken);
  if ('initData' in proof) {
    const identity = messengerIdentity.verifyInitData(proof.initData, INIT_DATA_MAX_AGE_SECONDS);
    if (identity?.messengerId) {
      const { messengerId, username, firstName, lastName } = identity;
      return { messengerId, username, firstName, lastName };
    }
    throw initDataInvalid();
  }
  const { widget } = proof;
  if (!messengerIdentity.verifyWidget(widget, INIT_DATA_MAX_AGE_SECONDS)) throw widgetDataInvalid();
  return {
    messengerId: widget.id,
    username: widget.username ?? null,
    firstName: widget.first_name ?? null,
    lastName: widget.last_name ?? null,
  };
}

const messengerAlreadyLinked = refusal('messenger_already_linked', 400, 'Messenger is already linked to your account');

export const MESSENGER_LINK_REFUSES = [initDataInvalid, widgetDataInvalid, messengerAlreadyLinked, ...ID_TOKEN_REFUSES];

const oauthStateOfOtherUser = refusal('oauth_state_of_other_user', 400, 'OAuth state was initiated by a different user');
const oauthProviderUnknown = refusal('oauth_provider_unknown', 400, 'Could not determine OAuth provider');
const oauthProviderMismatch = refusal('oauth_provider_mismatch', 400, 'Provider does not match OAuth state');
const oauthStateUserInvalid = refusal('oauth_state_user_invalid', 400, 'Invalid user_id in OAuth state');

/**
 * Begins to link an account of a provider to the caller; the state contains the user's id.
 * @throws AppError 400 'Provider is already linked to your account' | 400 'Requested OAuth provider is not available'
 */
export async function startLinking(app: App, actor: UserActor, provider: OAuthProvider): Promise<OAuthStart> {
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (linkedId(user, provider) !== null) throw providerAlreadyLinked();
  return beginOAuth(app, provider, { linkingUserId: user.id });
}

/**
 * Completes linking in the session that began it.
 * @throws AppError 400 with the reasons of spec 01 sections 6 and 7 | 403 | 409
 */
export async function completeLinking(
  app: App,
  actor: UserActor,
  provider: OAuthProvider,
  callback: OAuthCallback,
): Promise<LinkOutcome> {
  const state = await takeState(app, callback.state);
  if (state.provider !== provider) throw stateInvalid();
  if (!state.linking) throw notForLinking();
  if (state.linking.userId !== actor.userId) throw oauthStateOfOtherUser();
  const identity = await fetchOAuthIdentity(app, provider, callback, state.secrets);
  return bindProviderAccount(app, actor.userId, provider, identity, state.linking.createdAt);
}

/**
 * Completes linking in a browser without a session: the state is the credential. The provider's page shows which
 * account will be linked: every provider is requested to let the user choose or confirm it.
 * @param request `provider` null = that of the state
 * @throws AppError 400 with the reasons of spec 01 section 7 | 403 'User account is not active' | 409
 */
export async function completeLinkingByState(
  app: App,
  request: OAuthCallback & { provider: OAuthProvider | null },
): Promise<{ outcome: LinkOutcome; provider: OAuthProvider }> {
  const state = await takeState(app, request.state);
  const { provider, linking } = state;
  if (provider === null) throw oauthProviderUnknown();
  if (request.provider !== null && request.provider !== provider) throw oauthProviderMismatch();
  if (!linking) throw notForLinking();
  if (linking.userId === null) throw oauthStateUserInvalid();
  const user = await findById(app.db, linking.userId);
  if (!user) throw linkedUserNotFound();
  if (user.status !== 'active') throw userNotActive();
  const identity = await fetchOAuthIdentity(app, provider, request, state.secrets);
  return { outcome: await bindProviderAccount(app, user.id, provider, identity, linking.createdAt), provider };
}

const notForLinking = refusal('oauth_state_for_login', 400, 'OAuth state was not initiated for account linking');

const providerNotLinked = refusal('provider_not_linked', 400, 'Provider is not linked to your account');
const lastAuthMethod = refusal('last_auth_method', 400, 'Cannot unlink last authentication method');

export const UNLINK_REFUSES = [providerNotLinked, lastAuthMethod];

/**
 * Unlinks an account of a provider from the caller's account, under its lock: the second of two concurrent requests sees the result of
 * the first.
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

interface LinkedProvider {
  provider: string;
  /** The caller's id or address there; null = not linked. */
  identifier: string | null;
}

/** Sign-in methods of the cabinet, and the caller's own account of each. */
export async function listLinkedProviders(app: App, actor: UserActor): Promise<LinkedProvider[]> {
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  const messenger = { provider: 'messenger', identifier: user.messengerId === null ? null : String(user.messengerId) };
  const email = { provider: 'email', identifier: user.hasPassword ? user.email : null };
  return [
    messenger,
    ...(app.settings.get('CABINET_EMAIL_AUTH_ENABLED') ? [email] : []),
    ...listOAuthProviders(app).map(({ name }) => ({ provider: name, identifier: linkedId(user, name) })),
  ];
}

const providerJustLinked = refusal('provider_just_linked', 409, 'This provider account was just linked to another user');

/** Result of linking an identity. */
export type LinkOutcome = { kind: 'linked' } | { kind: 'already_linked' } | { kind: 'merge_required'; mergeToken: string };

/**
 * Links an account of a provider, whose identity was just proved, to a user under the user's lock. When it belongs to
 * another user, the result is a merge token for the two. The linking is refused when all sessions were ended since it was begun, by a
 * new password for example, also during the call to the provider (spec 01 H8).
 * @throws AppError 400 'Invalid or expired OAuth state' | 400 'User not found' | 403 'User account is not active' (spec 01 H27) | 400 another account of the provider is linked |
 *   409 'This provider account was just linked to another user'
 */
export async function bindProviderAccount(
  app: App,
  userId: number,
  provider: OAuthProvider,
  { providerId }: OAuthIdentity,
  begunAt: Date,
): Promise<LinkOutcome> {
  try {
    return await inTransaction(app, async (t): Promise<LinkOutcome> => {
      const user = await lockUserById(t.db, userId);
      if (!user) throw linkedUserNotFound();
      if (user.status !== 'active') throw userNotActive();
      if (await haveSessionsEndedSince(t, [userId], begunAt)) throw stateInvalid();
      const current = linkedId(user, provider);
      if (current === providerId) return { kind: 'already_linked' };
      const ownerId = await findIdByProviderId(t.db, provider, providerId);
      if (ownerId !== null) {
        const offer = { primaryUserId: userId, secondaryUserId: ownerId, provider, providerId };
        return { kind: 'merge_required', mergeToken: await createMergeToken(t, offer) };
      }
      // Linked by a concurrent request: it is not replaced without notice, the user must unlink it first.
      if (current !== null) throw providerAlreadyLinked();
      await setProviderId(t.db, userId, provider, providerId, t.clock.now());
      await forgetSessionUser(t, userId);
      return { kind: 'linked' };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw providerJustLinked();
  }
}

export const providerAlreadyLinked = refusal('provider_already_linked', 400, 'Provider is already linked to your account');
const linkedUserNotFound = refusal('user_not_found', 400, 'User not found');

/** In the session that began it. */
export const LINKING_REFUSES = [stateInvalid, notForLinking, oauthStateOfOtherUser, providerAlreadyLinked, ...IDENTITY_REFUSES];

/** In a browser without a session. */
export const LINKING_BY_STATE_REFUSES = [
  stateInvalid,
  notForLinking,
  oauthProviderUnknown,
  oauthProviderMismatch,
  oauthStateUserInvalid,
  linkedUserNotFound,
  userNotActive,
  providerAlreadyLinked,
  ...IDENTITY_REFUSES,
];
