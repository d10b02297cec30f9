import type { App } from '../../core/app.ts';

/** The links to a campaign. */
export interface CampaignLinks {
  /** Opens the bot; only `?start=…` while the bot has no name. */
  deepLink: string;
  /** Opens the cabinet; null while `MINIAPP_CUSTOM_URL` is not set. */
  webLink: string | null;
}

/** The links of a campaign by its slug, as the settings are now (spec 04 section 3.2, Links). */
export function campaignLinks(app: App, startParameter: string): CampaignLinks {
  const slug = encodeURIComponent(startParameter);
  const { messengerIdentity } = app.ports;
  const bot = messengerIdentity.botUsername();
  const address = bot ? `${messengerIdentity.linkBase()}/${bot}` : '';
  const site = app.settings.get('MINIAPP_CUSTOM_URL').trim().replace(/\/+$/, '');
  return { deepLink: `${address}?start=${slug}`, webLink: site === '' ? null : `${site}/?campaign=${slug}` };
}
