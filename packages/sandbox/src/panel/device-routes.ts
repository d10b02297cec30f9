import { DeviceNameBody, DeviceOwnerBody, NewDeviceBody } from './infra-routes.ts';
import { deviceAnswer, devicesAnswer } from './panel-answers.ts';
import type { StoredUser } from './panel-data.ts';
import { checked, ERRORS, PanelRefusal, type PanelRoute, type RouteRequest } from './panel-route.ts';
import { PageQuery } from './user-requests.ts';
import { userOf } from './user-routes.ts';

/** In the older generation bodies have `userUuid`; the newer one's have `userId`. */
function adapt(body: unknown, { context }: Pick<RouteRequest, 'context'>): unknown {
  if (context.generation === 'number' || typeof body !== 'object' || body === null) return body;
  const { userUuid, userId: _unknown, ...rest } = body as Record<string, unknown>;
  if (typeof userUuid !== 'string') return rest;
  const user = context.state.byUuid(userUuid);
  if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
  return { ...rest, userId: user.id };
}

function ownerOf({ context, body }: RouteRequest): StoredUser {
  const user = context.state.byId((body as DeviceOwnerBody).userId);
  if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
  return user;
}

export const deviceRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/hwid/devices',
    query: PageQuery,
    handle({ context, query }) {
      const { start, size } = checked(PageQuery, Object.fromEntries(query));
      const rows = [...context.state.users()].flatMap((user) => user.devices.map((device) => ({ user, device })));
      const devices = rows.slice(start, start + size).map(({ user, device }) => deviceAnswer(context, user, device));
      return { response: { devices, total: rows.length } };
    },
  },
  {
    method: 'GET',
    path: '/api/hwid/devices/:user',
    handle: (request) => ({ response: devicesAnswer(request.context, userOf(request)) }),
  },
  {
    method: 'POST',
    path: '/api/hwid/devices',
    adapt,
    body: NewDeviceBody,
    handle(request) {
      const user = ownerOf(request);
      const { userId: _userId, hwid, ...details } = request.body as NewDeviceBody;
      const { state } = request.context;
      if (user.devices.some((device) => device.hwid === hwid)) throw new PanelRefusal(ERRORS.USER_HWID_DEVICE_ALREADY_EXISTS);
      const now = state.clock.now().toISOString();
      const unknown = { platform: null, osVersion: null, deviceModel: null, userAgent: null, requestIp: null };
      state.addDevice(user, { ...unknown, ...details, hwid, createdAt: now, updatedAt: now });
      return { response: devicesAnswer(request.context, user) };
    },
  },
  {
    method: 'POST',
    path: '/api/hwid/devices/delete',
    adapt,
    body: DeviceNameBody,
    handle(request) {
      const user = ownerOf(request);
      const { hwid } = request.body as DeviceNameBody;
      if (!request.context.state.removeDevice(user, hwid)) throw new PanelRefusal(ERRORS.HWID_DEVICE_NOT_FOUND);
      return { response: devicesAnswer(request.context, user) };
    },
  },
  {
    method: 'POST',
    path: '/api/hwid/devices/delete-all',
    adapt,
    body: DeviceOwnerBody,
    handle(request) {
      const user = ownerOf(request);
      for (const device of user.devices) request.context.state.removeDevice(user, device.hwid);
      return { response: devicesAnswer(request.context, user) };
    },
  },
];

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
