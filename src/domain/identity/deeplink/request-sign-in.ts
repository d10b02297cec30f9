import type { App } from '../../../core/app.ts';
import { isDatabaseUnavailable } from '../../../core/db/db-errors.ts';
import { refusal } from '../../../core/errors.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { PENDING_SECONDS, storePending } from './stored-sign-in.ts';

const signInStoreUnavailable = refusal('sign_in_store_unavailable', 503, 'Service temporarily unavailable');
const botNotConfigured = refusal('bot_not_configured', 503, 'Bot not configured');

const TOKEN_BYTES = 24;
const MAX_DEVICE_LENGTH = 120;

export interface DeepLink {
  token: string;
  /** Without `@`. */
  botUsername: string;
  /** Seconds. */
  expiresIn: number;
}

/**
 * Begins a sign-in that is confirmed in the messenger's bot (spec 01 section 5.4).
 * @param client shown to the user before the confirmation
 * @throws AppError 503 'Service temporarily unavailable' | 503 'Bot not configured'
 */
export async function requestDeepLink(app: App, client: { ip: string | null; device: string | null }): Promise<DeepLink> {
  const token = urlSafeToken(app.random, TOKEN_BYTES);
  try {
    await storePending(app, token, {
      status: 'pending',
      created_at: app.clock.now().toISOString(),
      ip: client.ip,
      device: client.device?.slice(0, MAX_DEVICE_LENGTH) ?? null,
    });
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    throw signInStoreUnavailable({ cause: error });
  }
  const botUsername = app.ports.messengerIdentity.botUsername();
  if (!botUsername) throw botNotConfigured();
  return { token, botUsername, expiresIn: PENDING_SECONDS };
}
