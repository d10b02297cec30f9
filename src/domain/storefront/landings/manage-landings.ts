import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
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
  updateLanding,
} from './repo.ts';
import { isReservedSlug } from './rules.ts';
import type { Landing, LandingChanges, LandingContent } from './types.ts';

/**
 * Creates a page, last in the order (spec 03 section 7.3).
 * @throws AppError 400 reserved slug, incomplete or reversed discount | 409 slug taken
 */
export function createLanding(app: App, _actor: Actor, content: LandingContent): Promise<Landing> {
  if (isReservedSlug(content.slug)) throw slugReserved(content.slug);
  checkDiscount(content);
  return inTransaction(app, async (t) => {
    const landing = await insertLanding(t.db, content, t.clock.now());
    if (!landing) throw slugTaken(content.slug);
    t.audit?.record({ resourceId: landing.id, before: null, after: landing });
    return landing;
  });
}

/**
 * Changes the given fields. Taking the discount away (percent null) takes everything of it away; the discount is checked as it
 * stands afterwards (spec 03 section 7.3).
 * @throws AppError 404 | 400 and 409 as for creation
 */
export function changeLanding(app: App, _actor: Actor, id: number, request: LandingChanges): Promise<Landing> {
  const { slug } = request;
  if (slug !== undefined && isReservedSlug(slug)) throw slugReserved(slug);
  return inTransaction(app, async (t) => {
    const before = await lockLanding(t.db, id);
    if (!before) throw landingNotFound();
    if (slug !== undefined && (await isSlugTaken(t.db, slug, id))) throw slugTaken(slug);
    const changes = request.discountPercent === null ? { ...request, ...NO_DISCOUNT } : request;
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    checkDiscount({ ...before, ...given });
    const after = await updateLanding(t.db, id, changes, t.clock.now());
    t.audit?.record({ before, after });
    return after;
  });
}

const NO_DISCOUNT = {
  discountPercent: null,
  discountOverrides: null,
  discountStartsAt: null,
  discountEndsAt: null,
  discountBadgeText: null,
} as const;

/** Percent, start and end belong together, in this order of time. */
function checkDiscount(content: Pick<LandingContent, 'discountPercent' | 'discountStartsAt' | 'discountEndsAt'>): void {
  const { discountPercent, discountStartsAt, discountEndsAt } = content;
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
    t.audit?.record({ before, after: null });
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
