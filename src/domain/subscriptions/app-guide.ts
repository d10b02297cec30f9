import { setTimeout as wait } from 'node:timers/promises';
import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { readAppConfigContent } from '../provisioning/app-configs.ts';
import { requireBuyerDetails } from './purchase/insufficient-funds.ts';
import { storeCryptoLink } from './repo.ts';
import { connectionLink } from './rules/connection-link.ts';
import type { Subscription } from './types.ts';

export const appConfigNotSet = refusal('app_config_not_set', 404, 'App configuration not set up.');

/** How long a guide waits for an encrypted link; the next one asks again. */
const ENCRYPTION_WAIT_MS = 3_000;

/**
 * The connection guide with the user's own links; without a subscription the links are null (spec 02 section 5.14). The answer is built
 * each time, only the panel's configuration is cached. `hasSubscription`: a link is known; `hideLink`: clients do not show it.
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

// The panel's configuration of client apps with a user's links put in. Everything is copied: the configuration is
// shared by all users and never carries the links of one.

/** Links of the user; null where there is none. */
interface GuideLinks {
  subscriptionUrl: string | null;
  /** The same link in the encrypted form of the client app. */
  cryptoLink: string | null;
}

type Json = Record<string, unknown>;

const FALLBACK_NAMES: Readonly<Record<string, string>> = {
  ios: 'iPhone/iPad',
  android: 'Android',
  macos: 'macOS',
  windows: 'Windows',
  linux: 'Linux',
  androidTV: 'Android TV',
  appleTV: 'Apple TV',
};

const PLACEHOLDER = /\{\{(SUBSCRIPTION_LINK|HAPP_CRYPT3_LINK|HAPP_CRYPT4_LINK)\}\}/g;
const LINK_BUTTONS = new Set(['subscriptionLink', 'copyButton']);

/** @param config the panel's object; unknown shapes are left out, never an error */
export function appGuide(config: Json, links: GuideLinks) {
  const known = Object.entries(recordOf(config.platforms)).flatMap(([key, value]) => {
    const platform = recordOf(value);
    const apps = recordsOf(platform.apps);
    return apps.length === 0 ? [] : [[key, platform, apps] as const];
  });
  const named = known.flatMap(([key, { displayName }]) => (displayName === undefined ? [] : [[key, displayName] as const]));
  const fallbacks = Object.entries(FALLBACK_NAMES).map(([key, en]) => [key, { en }] as const);
  return {
    platforms: Object.fromEntries(
      known.map(([key, platform, apps]) => [key, { ...platform, apps: apps.map((app) => appWithLinks(app, links)) }]),
    ),
    svgLibrary: recordOf(config.svgLibrary),
    baseTranslations: isRecord(config.baseTranslations) ? config.baseTranslations : null,
    baseSettings: isRecord(config.baseSettings) ? config.baseSettings : null,
    uiConfig: recordOf(config.uiConfig),
    platformNames: Object.fromEntries([...fallbacks, ...named]),
    branding: recordOf(config.brandingSettings),
  };
}

function appWithLinks(app: Json, links: GuideLinks): Json {
  const blocks = Array.isArray(app.blocks)
    ? { blocks: app.blocks.map((block) => (isRecord(block) ? withButtons(block, links) : block)) }
    : {};
  return { ...withButtons(app, links), ...blocks, deepLink: deepLinkOf(app, links) };
}

function withButtons(holder: Json, links: GuideLinks): Json {
  if (!Array.isArray(holder.buttons)) return { ...holder };
  return { ...holder, buttons: holder.buttons.map((button) => (isRecord(button) ? withResolvedUrl(button, links) : button)) };
}

/** `resolvedUrl` only when every placeholder of a link has its link. */
function withResolvedUrl(button: Json, links: GuideLinks): Json {
  const template = templateOf(button);
  if (template === null || !LINK_BUTTONS.has(String(button.type))) return { ...button };
  let isComplete = true;
  const resolvedUrl = template.replace(PLACEHOLDER, (_all, name: string) => {
    const link = name === 'SUBSCRIPTION_LINK' ? links.subscriptionUrl : links.cryptoLink;
    isComplete &&= link !== null;
    return link ?? '';
  });
  return isComplete ? { ...button, resolvedUrl } : { ...button };
}

/**
 * The app's own scheme, else that of the first button with one, in front of the link that it accepts; null without the link or a scheme.
 */
function deepLinkOf(app: Json, links: GuideLinks): string | null {
  const found = schemeOf(app);
  if (found === null) return null;
  const link = found.takesCryptoLink ? links.cryptoLink : links.subscriptionUrl;
  if (link === null) return null;
  return found.scheme + (app.isNeedBase64Encoding === true ? Buffer.from(link).toString('base64') : link);
}

function schemeOf(app: Json): { scheme: string; takesCryptoLink: boolean } | null {
  if (typeof app.urlScheme === 'string' && app.urlScheme !== '') {
    return { scheme: app.urlScheme, takesCryptoLink: app.usesCryptoLink === true };
  }
  const buttons = [...recordsOf(app.blocks).flatMap((block) => recordsOf(block.buttons)), ...recordsOf(app.buttons)];
  for (const button of buttons) {
    const template = LINK_BUTTONS.has(String(button.type)) ? templateOf(button) : null;
    const scheme = template?.slice(0, template.indexOf('{{'));
    if (template && scheme?.includes('://')) return { scheme, takesCryptoLink: template.includes('HAPP_CRYPT4') };
  }
  return null;
}

function templateOf(button: Json): string | null {
  return [button.url, button.link].find((text): text is string => typeof text === 'string' && text.includes('{{')) ?? null;
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});
const recordsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
