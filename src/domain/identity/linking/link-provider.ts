import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { userNotActive, userNotFound } from '../errors.ts';
import { fetchOAuthIdentity } from '../oauth/fetch-identity.ts';
import { linkedId } from '../oauth/rules.ts';
import { beginOAuth, type OAuthStart, stateInvalid, takeState } from '../oauth/state.ts';
import type { OAuthCallback, OAuthProvider } from '../oauth/types.ts';
import { findById } from '../repo.ts';
import { bindProviderAccount, type LinkOutcome, linkedUserNotFound, providerAlreadyLinked } from './bind-identity.ts';

const oauthStateOfOtherUser = refusal('oauth_state_of_other_user', 400, 'OAuth state was initiated by a different user');
const oauthProviderUnknown = refusal('oauth_provider_unknown', 400, 'Could not determine OAuth provider');
const oauthProviderMismatch = refusal('oauth_provider_mismatch', 400, 'Provider does not match OAuth state');
const oauthStateUserInvalid = refusal('oauth_state_user_invalid', 400, 'Invalid user_id in OAuth state');

/**
 * Begins to link an account of a provider to the caller; the state contains the user's id (spec 01 section 7).
 * @throws AppError 400 'Provider is already linked to your account' | 400 'Requested OAuth provider is not available'
 */
export async function startLinking(app: App, actor: UserActor, provider: OAuthProvider): Promise<OAuthStart> {
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (linkedId(user, provider) !== null) throw providerAlreadyLinked();
  return beginOAuth(app, provider, { linkingUserId: user.id });
}

/**
 * Completes linking in the session that began it (spec 01 section 7).
 * @throws AppError 400 with the reasons of sections 6 and 7 | 403 | 409
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
 * Completes linking in a browser without a session: the state is the credential (spec 01 section 7). The provider's page shows which
 * account will be linked: every provider is requested to let the user choose or confirm it.
 * @param request `provider` null = that of the state
 * @throws AppError 400 with the reasons of section 7 | 403 'User account is not active' | 409
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
