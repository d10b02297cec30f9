import type { App } from '../../core/app.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import { storeOf } from '../settings/settings-store.ts';
import { ensureDefaultToken } from './manage-tokens.ts';

/**
 * Applies changes of the default token's settings without a restart (spec 01 section 9): a new text or name activates its row and
 * deactivates the row of the former text. Every instance does it; a repetition changes nothing. @returns stops following
 */
export function followDefaultToken(app: App): () => void {
  return storeOf(app).onChange(['WEB_API_DEFAULT_TOKEN', 'WEB_API_DEFAULT_TOKEN_NAME'], () =>
    runOutsideTransaction(() => {
      // Any failure: there is no caller; the next start repeats it.
      ensureDefaultToken(app).catch((err: unknown) => app.log.error({ err }, 'the default API token could not be updated'));
    }),
  );
}
