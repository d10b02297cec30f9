import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { forgetSessionUser } from './authenticate.ts';
import { setLanguage } from './repo.ts';

/** What a user wants to be notified of (spec 05 section 9.1). */
export interface NotificationPreferences {
  subscriptionExpiryEnabled: boolean;
  /** Days before the end at which the first reminder is sent, 1 to 30. */
  subscriptionExpiryDays: number;
  trafficWarningEnabled: boolean;
  /** From this share of the traffic limit on, 50 to 99. */
  trafficWarningPercent: number;
  balanceLowEnabled: boolean;
  /** Kopeks. */
  balanceLowThreshold: number;
  newsEnabled: boolean;
  promoOffersEnabled: boolean;
}

const DEFAULTS: NotificationPreferences = {
  subscriptionExpiryEnabled: true,
  subscriptionExpiryDays: 3,
  trafficWarningEnabled: true,
  trafficWarningPercent: 80,
  balanceLowEnabled: true,
  balanceLowThreshold: 100,
  newsEnabled: true,
  promoOffersEnabled: true,
};

export const PREFERENCE_NAMES = Object.keys(DEFAULTS) as readonly (keyof NotificationPreferences)[];

/** The key of a preference in `users.notification_settings`, which SQL reads too. */
export function storedPreferenceName(name: keyof NotificationPreferences): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Reads `users.notification_settings`; a missing value, or one of another type, reads as its default. */
export function readPreferences(stored: unknown): NotificationPreferences {
  const values = typeof stored === 'object' && stored !== null ? (stored as Record<string, unknown>) : {};
  const read = PREFERENCE_NAMES.map((name) => {
    const value = values[storedPreferenceName(name)];
    const isFit = typeof value === typeof DEFAULTS[name] && (typeof value !== 'number' || Number.isSafeInteger(value));
    return [name, isFit ? value : DEFAULTS[name]];
  });
  return Object.fromEntries(read) as NotificationPreferences;
}

/** Stores the language of the own account; texts of the cabinet, the chat, mails and invoices follow at once. @param language normalised */
export function changeLanguage(app: App, actor: UserActor, language: string): Promise<void> {
  return inTransaction(app, async (t) => {
    await setLanguage(t.db, actor.userId, language, t.clock.now());
    await forgetSessionUser(t, actor.userId);
  });
}
