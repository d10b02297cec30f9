import type { App } from '../../core/app.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import { storeOf } from '../settings/settings-store.ts';
import { ensureDefaultToken } from './manage-tokens.ts';

/**
 * Keeps the operator's own token in step with its settings (spec 01 section 9): a new text or name counts without a restart, wakes
 * a revoked row and switches off the row of the former text. Every instance does it; doing it again changes nothing. @returns how to stop
 */
export function followDefaultToken(app: App): () => void {
  return storeOf(app).onChange(['WEB_API_DEFAULT_TOKEN', 'WEB_API_DEFAULT_TOKEN_NAME'], () =>
    runOutsideTransaction(() => {
      ensureDefaultToken(app).catch((err: unknown) =>
        app.log.error({ err }, 'the default API token could not be brought in step'),
      );
    }),
  );
}
