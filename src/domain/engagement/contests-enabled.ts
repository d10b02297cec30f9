import type { App } from '../../core/app.ts';

/** Whether contests run by themselves; the second setting is the former name of the first (spec 04 section 14). */
export function areContestsEnabled({ settings }: Pick<App, 'settings'>): boolean {
  return settings.get('CONTESTS_ENABLED') || settings.get('REFERRAL_CONTESTS_ENABLED');
}
