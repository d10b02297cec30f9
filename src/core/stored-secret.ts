import type { App } from './app.ts';
import { MINUTE_MS } from './clock.ts';
import { urlSafeToken } from './random.ts';
import { initState } from './service-state.ts';

const SECRET_BYTES = 48;

/**
 * A random secret of this installation, made once for all instances. It is never answered or logged. Not for a transaction: its end without a
 * commit would delete a secret that others use already.
 * @param key row of `service_state`; a purpose has its own, so that what is signed for one is void for every other
 */
export function storedSecret(app: App, key: string): Promise<string> {
  return app.cache.read(key, MINUTE_MS, async () => {
    const { secret } = await initState(app.db, key, { secret: urlSafeToken(app.random, SECRET_BYTES) });
    return secret;
  });
}
