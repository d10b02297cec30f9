import type { App } from '../../../core/app.ts';
import { startOfDay } from '../../../core/clock.ts';
import { promocodeNotFound } from './errors.ts';
import { findCodeById, findCodeByText, listCodes, type PromocodeFilter, readUses } from './repo.ts';
import { normaliseCode } from './rules.ts';
import type { Promocode, PromocodeDetails } from './types.ts';

/** One page of codes, newest first (spec 04 section 7.4). */
export function listPromocodes(app: App, filter: PromocodeFilter): Promise<{ items: Promocode[]; total: number }> {
  return listCodes(app.db, filter);
}

/** A code with its last uses. @throws AppError 404 'Promo code not found' */
export async function readPromocode(app: App, promocodeId: number): Promise<PromocodeDetails> {
  const promocode = await findCodeById(app.db, promocodeId);
  if (!promocode) throw promocodeNotFound();
  return { promocode, ...(await readUses(app.db, promocode.id, startOfDay(app.clock.now()))) };
}

/** A code by its text, regardless of case; null when there is none. */
export function findPromocode(app: App, code: string): Promise<Promocode | null> {
  return findCodeByText(app.db, normaliseCode(code));
}
