import type { App } from '../../../core/app.ts';
import { countCharacters } from '../../../core/characters.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { type FeatureValues, readFeatureValues, storeFeatureValues } from '../../settings/feature-values.ts';
import {
  type AnimationChanges,
  BRANDING_KEYS,
  DEFAULT_COLORS,
  readState,
  withAnimation,
  withColors,
  withCounters,
  withThemes,
} from './branding-values.ts';
import { hasLogo, lockBranding } from './repo.ts';
import type { Branding, BrandingState } from './types.ts';

export const nameTooLong = refusal('name_too_long', 400, 'Name too long (max <n> characters)');

const MAX_NAME = 50;

type Changes = Partial<BrandingState>;
type StoredField = keyof typeof BRANDING_KEYS;

/**
 * Reads, changes and stores values in one transaction, after those of every other instance. When it commits, all instances drop what they
 * have cached.
 * @param change returns the new values from the current ones, or refuses; it does not query
 * @returns the new state
 */
async function changeBranding(app: App, change: (before: BrandingState) => Changes): Promise<BrandingState> {
  return inTransaction(app, async (t) => {
    await lockBranding(t.db);
    const before = await loadBranding(t.db);
    const changes = change(before);
    await storeFeatureValues(t, storedForm(changes));
    await t.cache.forget(t, [STATE_KEY]);
    const fields = Object.keys(changes) as (keyof BrandingState)[];
    t.audit?.record({
      resourceId: 'branding',
      before: Object.fromEntries(fields.map((field) => [field, before[field]])),
      after: changes,
    });
    return { ...before, ...changes };
  });
}

/** Numbers and flags as text, objects as JSON. */
function storedForm({ analytics, ...changes }: Changes): FeatureValues {
  const values = Object.entries({ ...changes, ...analytics }).map(([field, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return [BRANDING_KEYS[field as StoredField], text] as const;
  });
  return new Map(values);
}

/** An empty name is valid: the logo alone is shown. @throws AppError 400 longer than 50 characters after trimming */
export function changeName(app: App, name: string): Promise<BrandingState> {
  const trimmed = name.trim();
  if (countCharacters(trimmed) > MAX_NAME) throw nameTooLong({ detail: `Name too long (max ${MAX_NAME} characters)` });
  return changeBranding(app, () => ({ name: trimmed }));
}

/** @throws AppError 400 for the first invalid colour; nothing is changed then */
export function changeColors(app: App, colors: Parameters<typeof withColors>[1]): Promise<BrandingState> {
  return changeBranding(app, (before) => ({ colors: withColors(before.colors, colors) }));
}

export function resetColors(app: App): Promise<BrandingState> {
  return changeBranding(app, () => ({ colors: DEFAULT_COLORS }));
}

/** @throws AppError 400 when no theme would be left */
export function changeThemes(app: App, themes: Parameters<typeof withThemes>[1]): Promise<BrandingState> {
  return changeBranding(app, (before) => ({ themes: withThemes(before.themes, themes) }));
}

/** The configuration gets the same switch, so that both ways to read it agree. */
export function switchAnimation(app: App, enabled: boolean): Promise<BrandingState> {
  return changeBranding(app, ({ animation }) => ({ isAnimationEnabled: enabled, animation: { ...animation, enabled } }));
}

export function changeAnimation(app: App, changes: AnimationChanges): Promise<BrandingState> {
  return changeBranding(app, (before) => {
    const animation = withAnimation(before.animation, changes);
    return { animation, isAnimationEnabled: animation.enabled };
  });
}

/** Switches features of the cabinet. */
export function switchFeature(
  app: App,
  feature: 'isFullscreenEnabled' | 'isLiteModeEnabled' | 'isGiftEnabled',
  enabled: boolean,
): Promise<BrandingState> {
  return changeBranding(app, () => ({ [feature]: enabled }));
}

/** @throws AppError 400 for the first invalid counter; nothing is changed then */
export function changeCounters(app: App, counters: Parameters<typeof withCounters>[1]): Promise<BrandingState> {
  return changeBranding(app, (before) => ({ analytics: withCounters(before.analytics, counters) }));
}

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

/** What the sign-in page of the cabinet offers; the values that sign-in itself uses, from memory. */
export function readEmailAuth({ settings }: App) {
  return {
    enabled: settings.get('CABINET_EMAIL_AUTH_ENABLED'),
    verificationEnabled: settings.get('CABINET_EMAIL_VERIFICATION_ENABLED'),
  };
}

interface MessengerWidget {
  /** Without `@`; empty = not known. */
  readonly botUsername: string;
  readonly size: 'large' | 'medium' | 'small';
  /** Corner radius in pixels, 0 to 20. */
  readonly radius: number;
  readonly userpic: boolean;
  readonly requestAccess: boolean;
  readonly oidcEnabled: boolean;
  /** Empty while sign-in by OpenID Connect is off. */
  readonly oidcClientId: string;
}

/** The sign-in button of the messenger. It is changed through the settings list only. */
export function readMessengerWidget({ settings, ports }: App): MessengerWidget {
  // Off without a client id: the messenger would refuse the sign-in.
  const oidcEnabled = ports.messengerIdentity.isOidcEnabled();
  return {
    botUsername: ports.messengerIdentity.botUsername() ?? '',
    size: settings.get('MESSENGER_WIDGET_SIZE'),
    radius: settings.get('MESSENGER_WIDGET_RADIUS'),
    userpic: settings.get('MESSENGER_WIDGET_USERPIC'),
    requestAccess: settings.get('MESSENGER_WIDGET_REQUEST_ACCESS'),
    oidcEnabled,
    oidcClientId: oidcEnabled ? settings.get('MESSENGER_OIDC_CLIENT_ID').trim() : '',
  };
}
