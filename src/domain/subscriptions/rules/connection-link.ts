import type { Subscription } from '../types.ts';

/** The mode in which the encrypted link of the client app is handed out instead of the plain one. */
const CRYPTO_LINK_MODE = 'happ_cryptolink';
const RAW_PLACEHOLDERS = ['{subscription_link_raw}', '{link_raw}'];
const PLACEHOLDER = /\{(?:subscription_link|link)(?:_raw)?\}/g;

export interface ConnectionLinkSettings {
  /** CONNECT_BUTTON_MODE */
  connectMode: string;
  hideSubscriptionLink: boolean;
  /** HAPP_CRYPTOLINK_REDIRECT_TEMPLATE */
  redirectTemplate: string | null;
}

/** Links of a subscription as handed out (spec 02 section 5.14). */
export interface ConnectionLink {
  subscriptionUrl: string | null;
  displayLink: string | null;
  redirectLink: string | null;
  schemeLink: string | null;
  connectMode: string;
  hideLink: boolean;
}

/** @returns null while the subscription has no link yet; the caller answers 404 */
export function connectionLink(
  subscription: Pick<Subscription, 'subscriptionUrl' | 'subscriptionCryptoLink'>,
  settings: ConnectionLinkSettings,
): ConnectionLink | null {
  const usesCryptoLink = settings.connectMode === CRYPTO_LINK_MODE;
  const link = usesCryptoLink
    ? subscription.subscriptionCryptoLink || subscription.subscriptionUrl
    : subscription.subscriptionUrl;
  if (!link) return null;
  const hideLink = settings.hideSubscriptionLink && !usesCryptoLink;
  return {
    subscriptionUrl: hideLink ? null : subscription.subscriptionUrl,
    displayLink: hideLink ? null : link,
    redirectLink: usesCryptoLink ? renderRedirectLink(settings.redirectTemplate, link) : null,
    schemeLink: usesCryptoLink ? toHappScheme(link) : null,
    connectMode: settings.connectMode,
    hideLink,
  };
}

/**
 * Puts a link into the redirect template: `{subscription_link}` and `{link}` take it percent-encoded, the `_raw` forms as it
 * is; a template without a placeholder gets it encoded at its end. null without a template.
 */
export function renderRedirectLink(template: string | null, link: string): string | null {
  const trimmed = template?.trim() ?? '';
  if (trimmed === '') return null;
  const encoded = percentEncode(link);
  if (trimmed.search(PLACEHOLDER) === -1) return trimmed + encoded;
  return trimmed.replace(PLACEHOLDER, (placeholder) => (RAW_PLACEHOLDERS.includes(placeholder) ? link : encoded));
}

/** The same link under the client app's own scheme. */
export function toHappScheme(link: string): string {
  return `happ://${link.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')}`;
}

/** Everything but letters, digits and `-_.~` as %XX. */
function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
