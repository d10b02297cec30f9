import { ERRORS } from './panel-errors.ts';
import { PanelRefusal, type PanelRoute } from './panel-route.ts';

/** The subscription page that a panel has from its installation on. */
export const SANDBOX_APP_CONFIG_UUID = '00000000-0000-0000-0000-000000000000';

const ENTRY = { uuid: SANDBOX_APP_CONFIG_UUID, viewPosition: 1, name: 'Default', tags: [] };

const both = (en: string, ru: string) => ({ en, ru });

/** One app of a platform: installed, then opened with the subscription, or with its link copied. */
function app(name: string, link: string, template: string) {
  return {
    name,
    featured: true,
    blocks: [
      {
        svgIconKey: 'Download',
        svgIconColor: 'cyan',
        title: both('Install the app', 'Установите приложение'),
        description: both(`Get ${name}.`, `Скачайте ${name}.`),
        buttons: [{ type: 'external', link, text: both('Download', 'Скачать'), svgIconKey: 'Download' }],
      },
      {
        svgIconKey: 'Link',
        svgIconColor: 'cyan',
        title: both('Add the subscription', 'Добавьте подписку'),
        description: both(
          'Open the app with the button, or copy the link.',
          'Откройте приложение кнопкой или скопируйте ссылку.',
        ),
        buttons: [
          { type: 'subscriptionLink', link: template, text: both('Add', 'Добавить'), svgIconKey: 'Link' },
          {
            type: 'copyButton',
            link: '{{SUBSCRIPTION_LINK}}',
            text: both('Copy the link', 'Скопировать ссылку'),
            svgIconKey: 'Copy',
          },
        ],
      },
    ],
  };
}

const HAPP = app('Happ', 'https://www.happ.su/main', 'happ://add/{{SUBSCRIPTION_LINK}}');

const CONFIG = {
  version: '1',
  locales: ['en', 'ru'],
  uiConfig: { subscriptionInfoBlockType: 'collapsed', installationGuidesBlockType: 'cards' },
  baseSettings: { metaTitle: 'Subscription', metaDescription: 'Sandbox', showConnectionKeys: false, hideGetLinkButton: false },
  baseTranslations: {},
  svgLibrary: { Download: '<svg/>', Link: '<svg/>', Copy: '<svg/>' },
  brandingSettings: { title: 'Sandbox', logoUrl: '', supportUrl: '' },
  platforms: {
    ios: { displayName: both('iOS', 'iOS'), svgIconKey: 'Link', apps: [HAPP] },
    android: { displayName: both('Android', 'Android'), svgIconKey: 'Link', apps: [HAPP] },
    windows: { displayName: both('Windows', 'Windows'), svgIconKey: 'Link', apps: [HAPP] },
    macos: { displayName: both('macOS', 'macOS'), svgIconKey: 'Link', apps: [HAPP] },
  },
};

/** The fake panel has one configuration, which nothing changes. */
export const appConfigRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/subscription-page-configs',
    handle: () => ({ response: { total: 1, configs: [{ ...ENTRY, config: null }] } }),
  },
  {
    method: 'GET',
    path: '/api/subscription-page-configs/:uuid',
    handle({ params }) {
      if (params.uuid?.toLowerCase() !== ENTRY.uuid) throw new PanelRefusal(ERRORS.SUBSCRIPTION_PAGE_CONFIG_NOT_FOUND);
      return { response: { ...ENTRY, config: CONFIG } };
    },
  },
];
