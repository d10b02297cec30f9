import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { text } from '../messaging/texts.ts';
import { noSubscription } from './errors.ts';
import { requireBuyerDetails } from './purchase/require-buyer-details.ts';
import { type ConnectionLink, connectionLink } from './rules/connection-link.ts';

export const linkNotGenerated = refusal('link_not_generated', 404, 'Subscription link not yet generated');

/**
 * The links to connect with, and the steps of connecting (spec 02 section 5.14).
 * @throws AppError 404 `No subscription found` | 404 `Subscription link not yet generated` until the panel has one
 */
export async function readConnectionLink(app: App, actor: UserActor): Promise<ConnectionLink & { steps: string[] }> {
  const found = await requireBuyerDetails(app, actor);
  if (!found.details) throw noSubscription();
  const link = connectionLink(found.details.subscription, {
    connectMode: app.settings.get('CONNECT_BUTTON_MODE'),
    hideSubscriptionLink: app.settings.get('HIDE_SUBSCRIPTION_LINK'),
    redirectTemplate: app.settings.get('HAPP_CRYPTOLINK_REDIRECT_TEMPLATE'),
  });
  if (!link) throw linkNotGenerated();
  const { language } = found.buyer;
  const steps = [
    text(language, 'messages.connection_step_1'),
    text(language, 'messages.connection_step_2'),
    text(language, 'messages.connection_step_3'),
    text(language, 'messages.connection_step_4'),
  ];
  return { ...link, steps };
}

export type ClientPlatform = 'ios' | 'android' | 'macos' | 'windows';

export interface ClientDownload {
  name: string;
  icon: string;
  link: string;
}

/** Where the client app is downloaded, for the platforms that have a link (spec 02 section 5.14). */
export function listClientDownloads(app: App): Partial<Record<ClientPlatform, ClientDownload>> {
  const { settings } = app;
  const known: [ClientPlatform, string, string, string | null][] = [
    ['ios', 'iOS', '🍎', settings.get('HAPP_DOWNLOAD_LINK_IOS')],
    ['android', 'Android', '🤖', settings.get('HAPP_DOWNLOAD_LINK_ANDROID')],
    ['macos', 'macOS', '💻', settings.get('HAPP_DOWNLOAD_LINK_MACOS')],
    ['windows', 'Windows', '🖥', settings.get('HAPP_DOWNLOAD_LINK_WINDOWS') || settings.get('HAPP_DOWNLOAD_LINK_PC')],
  ];
  return Object.fromEntries(
    known.flatMap(([platform, name, icon, link]) => (link?.trim() ? [[platform, { name, icon, link: link.trim() }]] : [])),
  );
}
