import { hkdfSync } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { initState } from '../../../core/service-state.ts';

const MIN_SECRET_BYTES = 32;
const STORED_SECRET = 'cabinet_jwt_secret';

/** The secret of everything that the service signs for the cabinet. It is never answered or logged. */
export async function signingSecret(app: App): Promise<string> {
  return configuredSecret(app) ?? (await storedSecret(app));
}

/**
 * A key of its own for one purpose, derived from the secret (HKDF-SHA-256): what was signed for one purpose is void for every other.
 * @param purpose a constant name, for example `quote`
 * @returns 32 bytes
 */
export async function derivedKey(app: App, purpose: string): Promise<Buffer> {
  const secret = await signingSecret(app);
  const name = JSON.stringify([purpose, secret]);
  let key = derived.get(name);
  if (!key) {
    key = Buffer.from(hkdfSync('sha256', secret, '', `subscription-service:${purpose}`, 32));
    derived.set(name, key);
  }
  return key;
}

/** A secret changes with a setting only and the purposes are constants, so there are very few. */
const derived = new Map<string, Buffer>();

/** The environment, or an override that is long enough to be a key (spec 01 H26). */
function configuredSecret(app: App): string | null {
  const override = app.settings.get('CABINET_JWT_SECRET');
  if (override && Buffer.byteLength(override) >= MIN_SECRET_BYTES) return override;
  return app.env.cabinetJwtSecret;
}

/** In development without a secret one is created once and stored in the database, so that sessions remain valid after a restart. */
async function storedSecret(app: App): Promise<string> {
  if (app.env.isProduction) throw new Error('CABINET_JWT_SECRET is required in production');
  return app.cache.read(STORED_SECRET, MINUTE_MS, async () => {
    const { secret } = await initState(app.db, STORED_SECRET, { secret: urlSafeToken(app.random, 48) });
    return secret;
  });
}
