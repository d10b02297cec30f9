import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import type { UploadedFile } from '../../../core/http/uploads.ts';
import { prepareLogo } from './prepare-logo.ts';
import { loadBranding, STATE_KEY } from './read-branding.ts';
import { LOGO_KEY } from './read-logo.ts';
import { deleteLogo, lockBranding, upsertLogo } from './repo.ts';
import type { BrandingState } from './types.ts';

/**
 * Replaces the logo. Its bytes are a row, so instances without a common folder serve the same one, and there is never none in between.
 * @throws AppError 400 wrong type, too large
 */
export async function replaceLogo(app: App, file: UploadedFile): Promise<BrandingState> {
  const logo = await prepareLogo(file);
  const facts = { type: logo.contentType, bytes: logo.content.length };
  return change(app, facts, (t) => upsertLogo(t.db, logo, t.clock.now()));
}

/** Pages show the first letter of the name again. Without a logo nothing changes. */
export function removeLogo(app: App): Promise<BrandingState> {
  return change(app, null, (t) => deleteLogo(t.db));
}

function change(app: App, logo: object | null, write: (t: App) => Promise<void>): Promise<BrandingState> {
  const hasCustomLogo = logo !== null;
  return inTransaction(app, async (t) => {
    await lockBranding(t.db);
    const before = await loadBranding(t.db);
    await write(t);
    await t.cache.forget(t, [STATE_KEY, LOGO_KEY]);
    t.audit?.record({
      resourceId: 'branding',
      before: { hasCustomLogo: before.hasCustomLogo },
      after: { hasCustomLogo, ...logo },
    });
    return { ...before, hasCustomLogo };
  });
}
