import type { App } from '../../core/app.ts';
import type { SubscriptionChanges } from './types.ts';

/** Autopay of a new subscription (spec 02 section 1.1). */
export function autopayDefaults({ settings }: Pick<App, 'settings'>): SubscriptionChanges {
  return {
    autopayEnabled: settings.get('DEFAULT_AUTOPAY_ENABLED'),
    autopayDaysBefore: settings.get('DEFAULT_AUTOPAY_DAYS_BEFORE'),
  };
}
