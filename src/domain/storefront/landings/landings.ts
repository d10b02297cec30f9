import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Changes } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import {
  deleteLanding,
  flipActive,
  insertLanding,
  isSlugTaken,
  listOrder,
  lockLanding,
  orderLandings,
  storedMethods,
  updateLanding,
} from './repo.ts';
import { isReservedSlug } from './rules.ts';
import type { Landing, LandingBackground, LandingContent, NewLanding, RequiredLandingField } from './types.ts';

/**
 * Creates a page, last in the order (spec 03 section 7.3).
 * @throws AppError 400 reserved slug, incomplete or reversed discount | 409 slug taken
 */
export function createLanding(app: App, _actor: Actor, content: NewLanding): Promise<Landing> {
  if (isReservedSlug(content.slug)) throw slugReserved(content.slug);
  checkDiscount(content);
  return inTransaction(app, async (t) => {
    const landing = await insertLanding(t.db, content, t.clock.now());
    if (!landing) throw slugTaken(content.slug);
    t.audit?.record({ resourceId: landing.id, before: null, after: auditFieldsOf(landing) });
    return landing;
  });
}

/**
 * Changes the given fields: null clears an optional field and leaves a required one as it is. Percent null
 * removes the whole discount; the discount is checked as it will be stored.
 * @throws AppError 404 | 400 and 409 as for creation
 */
export function changeLanding(app: App, _actor: Actor, id: number, request: Changes<LandingContent>): Promise<Landing> {
  const { slug } = request;
  if (slug && isReservedSlug(slug)) throw slugReserved(slug);
  return inTransaction(app, async (t) => {
    const before = await lockLanding(t.db, id);
    if (!before) throw landingNotFound();
    if (slug && (await isSlugTaken(t.db, slug, id))) throw slugTaken(slug);
    const changes = request.discountPercent === null ? { ...request, ...NO_DISCOUNT } : request;
    const given = changedFields(changes);
    checkDiscount({ ...before, ...given });
    const after = await updateLanding(t.db, id, given, t.clock.now());
    t.audit?.record({ before: auditFieldsOf(before), after: auditFieldsOf(after) });
    return after;
  });
}

/** Audit rows are read over the interface: the keys of payment methods are those of the interface there. */
const auditFieldsOf = (landing: Landing) => ({ ...landing, paymentMethods: storedMethods(landing.paymentMethods) });

const NO_DISCOUNT = {
  discountPercent: null,
  discountOverrides: null,
  discountStartsAt: null,
  discountEndsAt: null,
  discountBadgeText: null,
} as const;

const REQUIRED: ReadonlySet<string> = new Set<RequiredLandingField>([
  ...(['slug', 'isActive', 'title', 'features', 'allowedTariffIds', 'allowedPeriods', 'paymentMethods', 'giftEnabled'] as const),
]);

function changedFields(changes: Changes<LandingContent>): Partial<LandingContent> {
  const given = Object.entries(changes).filter(
    ([field, value]) => value !== undefined && !(value === null && REQUIRED.has(field)),
  );
  return Object.fromEntries(given);
}

/** Percent, start and end are all set or all absent, and the start is before the end. */
function checkDiscount(content: Pick<NewLanding, 'discountPercent' | 'discountStartsAt' | 'discountEndsAt'>): void {
  const { discountPercent = null, discountStartsAt = null, discountEndsAt = null } = content;
  if (discountStartsAt !== null && discountEndsAt !== null && discountStartsAt >= discountEndsAt) throw discountDatesReversed();
  const parts = [discountPercent, discountStartsAt, discountEndsAt].filter((part) => part !== null);
  if (parts.length !== 0 && parts.length !== 3) throw discountIncomplete();
}

/** Shows or hides a page. @throws AppError 404 */
export async function toggleLanding(app: App, _actor: Actor, id: number): Promise<Landing> {
  const landing = await flipActive(app.db, id, app.clock.now());
  if (!landing) throw landingNotFound();
  app.audit?.record({ before: { isActive: !landing.isActive }, after: { isActive: landing.isActive } });
  return landing;
}

/** Deletes a page; its purchases stay, an unpaid one can still be paid. @throws AppError 404 */
export function removeLanding(app: App, _actor: Actor, id: number): Promise<void> {
  return inTransaction(app, async (t) => {
    const before = await lockLanding(t.db, id);
    if (!before) throw landingNotFound();
    await deleteLanding(t.db, id);
    t.audit?.record({ before: auditFieldsOf(before), after: null });
  });
}

/** Display order = place in the list; unknown ids are ignored. */
export function sortLandings(app: App, _actor: Actor, ids: readonly number[]): Promise<void> {
  return inTransaction(app, async (t) => {
    const before = await listOrder(t.db);
    await orderLandings(t.db, ids, t.clock.now());
    t.audit?.record({ before, after: await listOrder(t.db) });
  });
}

/** Refusals of sales pages; the texts are the literal ones of spec 03 section 7. */
export const landingNotFound = refusal('landing_not_found', 404, 'Landing page not found');
export const slugReserved = refusal(
  'landing_slug_reserved',
  400,
  'Slug "purchase" is reserved and cannot be used',
  (slug: string) => ({ detail: `Slug "${slug}" is reserved and cannot be used` }),
);
export const slugTaken = refusal(
  'landing_slug_taken',
  409,
  'Landing page with slug "page<n>" already exists',
  (slug: string) => ({ detail: `Landing page with slug "${slug}" already exists` }),
);
export const discountDatesReversed = refusal('landing_discount_dates', 400, 'discount_starts_at must be before discount_ends_at');
export const discountIncomplete = refusal(
  'landing_discount_incomplete',
  400,
  'discount_percent, discount_starts_at and discount_ends_at must be set together',
);

/** Backgrounds that the page can draw. */
const BACKGROUND_TYPES = [
  ...['aurora', 'sparkles', 'vortex', 'shooting-stars', 'background-beams', 'background-beams-collision', 'gradient-animation'],
  ...['wavy', 'background-lines', 'boxes', 'meteors', 'grid', 'dots', 'spotlight', 'ripple', 'none'],
] as const;

const MAX_SETTINGS = 20;
const MAX_KEY = 50;
const MAX_TEXT = 200;

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads a background from a request; unknown keys are dropped.
 * @returns the background, or a description of the problem
 */
export function readBackground(value: Values): LandingBackground | { problem: string } {
  const { enabled = false, type = 'none', settings, opacity, blur, reducedOnMobile } = value;
  if (typeof enabled !== 'boolean') return { problem: 'enabled must be a boolean' };
  if (!BACKGROUND_TYPES.some((known) => known === type)) return { problem: 'type is not a known background' };
  if (!isWithin(opacity, 0, 1)) return { problem: 'opacity must be between 0 and 1' };
  if (!isWithin(blur, 0, 100)) return { problem: 'blur must be between 0 and 100' };
  if (!isAbsent(reducedOnMobile) && typeof reducedOnMobile !== 'boolean') return { problem: 'reducedOnMobile must be a boolean' };
  const problem = isAbsent(settings) ? null : settingsProblem(settings);
  if (problem !== null) return { problem };
  return {
    enabled,
    type: String(type),
    ...(isAbsent(settings) ? {} : { settings: { ...(settings as NonNullable<LandingBackground['settings']>) } }),
    ...(isAbsent(opacity) ? {} : { opacity: Number(opacity) }),
    ...(isAbsent(blur) ? {} : { blur: Number(blur) }),
    ...(isAbsent(reducedOnMobile) ? {} : { reducedOnMobile: reducedOnMobile === true }),
  };
}

/** The background for the public page; null for a stored one that would not be accepted today. */
export function shownBackground(stored: Values | null): LandingBackground | null {
  if (stored === null) return null;
  const read = readBackground(stored);
  return 'problem' in read ? null : read;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return isAbsent(value) || (typeof value === 'number' && value >= min && value <= max);
}

function settingsProblem(settings: unknown): string | null {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return 'settings must be an object';
  const entries = Object.entries(settings);
  if (entries.length > MAX_SETTINGS) return `settings must have at most ${MAX_SETTINGS} keys`;
  for (const [key, value] of entries) {
    if (key.length > MAX_KEY) return `settings keys must have at most ${MAX_KEY} characters`;
    if (typeof value === 'object' && value !== null) return 'settings must be flat';
    if (typeof value === 'string' && value.length > MAX_TEXT) return `settings texts must have at most ${MAX_TEXT} characters`;
  }
  return null;
}
