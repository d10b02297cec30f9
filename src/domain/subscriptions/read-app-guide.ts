import { setTimeout as wait } from 'node:timers/promises';
import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { readAppConfigContent } from '../provisioning/app-configs.ts';
import { requireBuyerDetails } from './purchase/require-buyer-details.ts';
import { storeCryptoLink } from './repo.ts';
import { appGuide, type GuideLinks } from './rules/app-config.ts';
import { connectionLink } from './rules/connection-link.ts';
import type { Subscription } from './types.ts';

export const appConfigNotSet = refusal('app_config_not_set', 404, 'App configuration not set up.');

/** How long a guide waits for an encrypted link; the next one asks again. */
const ENCRYPTION_WAIT_MS = 3_000;

/**
 * The connection guide with the user's own links; without a subscription the links are null (spec 02 section 5.14). The answer is built
 * anew each time, only the panel's configuration is cached. `hasSubscription`: a link is known; `hideLink`: clients do not show it.
 * @throws AppError 404 'App configuration not set up.': none is chosen, or the panel gave none
 */
export async function readAppGuide(app: App, actor: UserActor) {
  const [{ details }, config] = await Promise.all([requireBuyerDetails(app, actor), readAppConfigContent(app)]);
  if (config === null) throw appConfigNotSet();
  const links = await linksOf(app, details?.subscription ?? null);
  const { settings } = app;
  const shown = connectionLink(
    { subscriptionUrl: links.subscriptionUrl, subscriptionCryptoLink: links.cryptoLink },
    {
      connectMode: settings.get('CONNECT_BUTTON_MODE'),
      hideSubscriptionLink: settings.get('HIDE_SUBSCRIPTION_LINK'),
      redirectTemplate: null,
    },
  );
  return {
    ...appGuide(config, links),
    ...links,
    hasSubscription: links.subscriptionUrl !== null || links.cryptoLink !== null,
    hideLink: shown?.hideLink ?? settings.get('HIDE_SUBSCRIPTION_LINK'),
  };
}

/** The stored links; a missing encrypted one is requested from the panel and stored. */
async function linksOf(app: App, subscription: Subscription | null): Promise<GuideLinks> {
  const subscriptionUrl = subscription?.subscriptionUrl || null;
  const stored = subscription?.subscriptionCryptoLink || null;
  if (subscription === null || subscriptionUrl === null || stored !== null) return { subscriptionUrl, cryptoLink: stored };
  const { panel } = app.ports;
  if (panel.configurationError() !== null) return { subscriptionUrl, cryptoLink: null };
  const cryptoLink = await Promise.race([panel.encryptLink(subscriptionUrl), wait(ENCRYPTION_WAIT_MS, null, { ref: false })]);
  if (cryptoLink !== null) await storeCryptoLink(app.db, subscription.id, subscriptionUrl, cryptoLink);
  return { subscriptionUrl, cryptoLink };
}
