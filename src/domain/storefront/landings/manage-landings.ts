import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Changes } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { discountDatesReversed, discountIncomplete, landingNotFound, slugReserved, slugTaken } from './errors.ts';
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
import type { Landing, LandingContent, NewLanding, RequiredLandingField } from './types.ts';

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
 * Changes the given fields (spec 03 section 7.3): null clears an optional field and leaves a required one as it is. Percent null
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

/** Deletes a page; its purchases stay, an unpaid one can still be paid (spec 03 section 7.3). @throws AppError 404 */
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
