import { secretHash } from '../rules.ts';
import type { UserRecord } from '../types.ts';
import type { OAuthProvider } from './types.ts';

/** The user's account at a provider as text; null when none is linked. */
export function linkedId(
  user: Pick<UserRecord, 'googleId' | 'yandexId' | 'discordId' | 'vkId'>,
  provider: OAuthProvider,
): string | null {
  switch (provider) {
    case 'google':
      return user.googleId;
    case 'yandex':
      return user.yandexId;
    case 'discord':
      return user.discordId;
    case 'vk':
      return user.vkId === null ? null : String(user.vkId);
  }
}

/** The browser that sent a callback. */
export interface CallbackBrowser {
  /** Secret in the browser's cookie. */
  secret: string | null;
  /** The browser states that the page is of our own origin; it then always sends our cookies. */
  isSameOrigin: boolean;
}

/**
 * Whether this browser may complete the sign-in that a state was made for (spec 01 H19). A state is bound to the cookie of the browser that
 * began. A browser that can send cookies must send it: without this check an attacker could send others a callback that signs them in
 * to the attacker's account. Clients without cookies (apps, pages of another site) have the state only.
 */
export function isSameBrowser(browserHash: string | null, browser: CallbackBrowser): boolean {
  if (browser.secret === null) return !browser.isSameOrigin;
  return browserHash === secretHash(browser.secret);
}
