import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { isRowId } from '../../../core/row-id.ts';
import { put, take } from '../../../core/short-lived.ts';
import { secretHash } from '../rules.ts';
import { isOAuthProvider, type OAuthProvider, type OAuthSecrets } from './types.ts';

const STATE_BYTES = 32;
const STATE_SECONDS = 600;

/** `oauth_state:{state}` (spec 01 section 1.3). */
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
export interface OAuthState {
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
export type OAuthPurpose = { browserSecret: string } | { linkingUserId: number };

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
 * Takes a state: of concurrent callbacks with one state, one gets it.
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
