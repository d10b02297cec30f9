import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { campaignLinks } from '../../../src/domain/campaigns/campaigns.ts';
import { testApp } from '../../support/test-app.ts';

const appWith = async (environment: Record<string, string> = {}): Promise<App> => (await testApp({ environment })).app;
const nameless = (app: App, name: string | null): App => ({
  ...app,
  ports: { ...app.ports, messengerIdentity: { ...app.ports.messengerIdentity, botUsername: () => name } },
});

describe('links of a campaign', () => {
  test('to the bot and to the cabinet, whatever slashes the setting ends with', async () => {
    for (const site of ['https://app.example.com', 'https://app.example.com/', 'https://app.example.com//']) {
      const app = nameless(await appWith({ MINIAPP_CUSTOM_URL: site }), 'shop_bot');
      expect(campaignLinks(app, 'Spring_26-a')).toEqual({
        deepLink: `${app.ports.messengerIdentity.linkBase()}/shop_bot?start=Spring_26-a`,
        webLink: 'https://app.example.com/?campaign=Spring_26-a',
      });
    }
  });

  test('without a bot and without a site', async () => {
    expect(campaignLinks(nameless(await appWith(), null), 'x')).toEqual({ deepLink: '?start=x', webLink: null });
  });

  test('a slug of other characters, which the Web API takes, cannot break out of the link', async () => {
    const app = nameless(await appWith({ MINIAPP_CUSTOM_URL: 'https://app.example.com' }), 'shop_bot');
    const { deepLink, webLink } = campaignLinks(app, 'a&b=c #d');
    expect(new URL(deepLink).searchParams.get('start')).toBe('a&b=c #d');
    expect(new URL(webLink!).searchParams.get('campaign')).toBe('a&b=c #d');
  });
});
