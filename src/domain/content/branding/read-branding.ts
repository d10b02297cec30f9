import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import type { Db } from '../../../core/db/db.ts';
import { readFeatureValues } from '../../settings/feature-values.ts';
import { hasLogo } from './repo.ts';
import { BRANDING_KEYS, readState } from './stored-values.ts';
import type { Branding, BrandingState } from './types.ts';

/** What a change of any value drops on every instance. */
export const STATE_KEY = 'branding';
/** Changes drop the cached values; this only limits how long a change past the service, by an import, stays unseen. */
const TRUST_MS = MINUTE_MS;

const LOGO_PATH = '/cabinet/branding/logo';
const LETTER_WITHOUT_NAME = 'V';

/** The branding of the cabinet. Every page reads it, so it is cached on each instance, all values together (spec 05 section 14). */
export function readBranding(app: App): Promise<BrandingState> {
  return app.cache.read(STATE_KEY, TRUST_MS, () => loadBranding(app.db));
}

/** The same from the database, for a change. */
export async function loadBranding(db: Db): Promise<BrandingState> {
  const values = await readFeatureValues(db, Object.values(BRANDING_KEYS));
  return readState(values, await hasLogo(db));
}

/** Name and logo as pages show them. */
export function viewBranding(app: App, { name: stored, hasCustomLogo }: BrandingState): Branding {
  const name = stored ?? app.env.cabinetBrandingName;
  const [letter] = name;
  return {
    name,
    logoUrl: hasCustomLogo ? LOGO_PATH : null,
    // `ß` in capitals is two letters.
    logoLetter: letter === undefined ? LETTER_WITHOUT_NAME : [...letter.toUpperCase()][0]!,
    hasCustomLogo,
  };
}
