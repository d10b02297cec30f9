import type { App } from '../../core/app.ts';
import { findActiveBySlug } from './repo.ts';
import type { Campaign } from './types.ts';

/** The active campaign behind a link; its slug is compared with upper and lower case (spec 04 section 6.1). */
export function findActiveCampaign(app: App, slug: string): Promise<Campaign | null> {
  return findActiveBySlug(app.db, slug);
}
