import { describe, expect, test } from 'vitest';
import { appGuide } from '../../../src/domain/subscriptions/app-guide.ts';

const URL = 'https://sub.example.com/abc';
const CRYPTO = 'happ://crypt4/xyz';
const LINKS = { subscriptionUrl: URL, cryptoLink: CRYPTO };
const NONE = { subscriptionUrl: null, cryptoLink: null };

const button = (link: string, type = 'subscriptionLink') => ({ type, link, text: { en: 'Add' } });
const config = (app: Record<string, unknown>) => ({ platforms: { ios: { svgIconKey: 'i', apps: [{ name: 'A', ...app }] } } });
const deepLink = (app: Record<string, unknown>, links = LINKS) =>
  (appGuide(config(app), links).platforms.ios as { apps: { deepLink: string | null }[] }).apps[0]!.deepLink;

describe('02 5.14: the deep link of an app', () => {
  test.each([
    [
      'the own scheme comes first',
      { urlScheme: 'own://', blocks: [{ buttons: [button('x://{{SUBSCRIPTION_LINK}}')] }] },
      `own://${URL}`,
    ],
    ['the own scheme with the encrypted link', { urlScheme: 'own://', usesCryptoLink: true }, `own://${CRYPTO}`],
    [
      'the first button with a scheme',
      { blocks: [{ buttons: [button('{{SUBSCRIPTION_LINK}}', 'copyButton'), button('x://add/{{SUBSCRIPTION_LINK}}')] }] },
      `x://add/${URL}`,
    ],
    [
      'blocks come before buttons',
      { buttons: [button('b://{{SUBSCRIPTION_LINK}}')], blocks: [{ buttons: [button('a://{{SUBSCRIPTION_LINK}}')] }] },
      `a://${URL}`,
    ],
    ['buttons of the app itself', { buttons: [{ type: 'copyButton', url: 'b://{{HAPP_CRYPT4_LINK}}' }] }, `b://${CRYPTO}`],
    ['base64', { urlScheme: 'own://', isNeedBase64Encoding: true }, `own://${Buffer.from(URL).toString('base64')}`],
    ['no scheme in front', { blocks: [{ buttons: [button('{{HAPP_CRYPT4_LINK}}')] }] }, null],
    ['no scheme at all', {}, null],
  ])('%s', (_name, app, expected) => expect(deepLink(app)).toBe(expected));

  test('is null without the link that it takes', () => {
    expect(deepLink({ urlScheme: 'own://' }, NONE as never)).toBeNull();
    expect(
      deepLink({ urlScheme: 'own://', usesCryptoLink: true }, { subscriptionUrl: URL, cryptoLink: null } as never),
    ).toBeNull();
  });
});

describe('02 5.14: buttons', () => {
  const buttons = (list: object[], links: Parameters<typeof appGuide>[1] = LINKS) => {
    const { platforms } = appGuide(config({ blocks: [{ title: 't', buttons: list }] }), links);
    return (platforms.ios as { apps: { blocks: { buttons: Record<string, unknown>[] }[] }[] }).apps[0]!.blocks[0]!.buttons;
  };

  test('get resolvedUrl only when every placeholder has its link, and only those that lead to the subscription', () => {
    const both = button('x://{{SUBSCRIPTION_LINK}}?c={{HAPP_CRYPT3_LINK}}');
    expect(buttons([both])[0]!.resolvedUrl).toBe(`x://${URL}?c=${CRYPTO}`);
    expect(buttons([both], { subscriptionUrl: URL, cryptoLink: null })[0]).toEqual(both);
    const external = button('https://{{SUBSCRIPTION_LINK}}', 'external');
    expect(buttons([external, button('https://plain')])).toEqual([external, button('https://plain')]);
  });
});

describe('02 5.14: the guide', () => {
  test('leaves platforms without apps out, keeps their other keys, and names them', () => {
    const guide = appGuide(
      {
        platforms: {
          ios: { displayName: { en: 'Phone' }, svgIconKey: 'i', apps: [{ name: 'A' }] },
          linux: { apps: [] },
          windows: 5,
        },
        brandingSettings: { title: 'Shop' },
      },
      NONE,
    );
    expect(guide.platforms).toEqual({
      ios: { displayName: { en: 'Phone' }, svgIconKey: 'i', apps: [{ name: 'A', deepLink: null }] },
    });
    expect(guide.platformNames).toMatchObject({ ios: { en: 'Phone' }, linux: { en: 'Linux' }, androidTV: { en: 'Android TV' } });
    expect(guide).toMatchObject({
      svgLibrary: {},
      uiConfig: {},
      baseTranslations: null,
      baseSettings: null,
      branding: { title: 'Shop' },
    });
  });

  test('02 5.14: the shared configuration never takes the links of a user', () => {
    const shared = config({ urlScheme: 'own://', blocks: [{ buttons: [button('x://{{SUBSCRIPTION_LINK}}')] }] });
    const before = JSON.stringify(shared);
    expect(JSON.stringify(appGuide(shared, LINKS))).toContain(URL);
    expect(JSON.stringify(shared)).toBe(before);
    expect(JSON.stringify(appGuide(shared, NONE))).not.toContain(URL);
  });

  test.each([[{}], [{ platforms: [] }], [{ platforms: { ios: { apps: [null, 4, { blocks: 'x', buttons: [7] }] } } }]])(
    'unknown shapes are no error: %j',
    (shape) => expect(() => appGuide(shape as never, LINKS)).not.toThrow(),
  );
});
