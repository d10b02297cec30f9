import { describe, expect, it } from 'vitest';
import { connectionLink, renderRedirectLink, toHappScheme } from '../../../src/domain/subscriptions/rules/connection-link.ts';

const URL_LINK = 'https://panel.test/sub/a?b=1';
const CRYPTO_LINK = 'happ://crypt4/xyz+/=';

function linkOf(
  connectMode: string,
  hideSubscriptionLink = false,
  links: { subscriptionUrl: string | null; subscriptionCryptoLink: string | null } = {
    subscriptionUrl: URL_LINK,
    subscriptionCryptoLink: CRYPTO_LINK,
  },
) {
  return connectionLink(links, { connectMode, hideSubscriptionLink, redirectTemplate: 'https://go.test/?to={link}' });
}

describe('connection link', () => {
  it('is the plain link in the common modes', () => {
    expect(linkOf('link')).toEqual({
      subscriptionUrl: URL_LINK,
      displayLink: URL_LINK,
      redirectLink: null,
      schemeLink: null,
      connectMode: 'link',
      hideLink: false,
    });
  });

  it('is hidden by the setting, but never in the crypto mode', () => {
    expect(linkOf('guide', true)).toMatchObject({ subscriptionUrl: null, displayLink: null, hideLink: true });
    expect(linkOf('happ_cryptolink', true)).toMatchObject({
      subscriptionUrl: URL_LINK,
      displayLink: CRYPTO_LINK,
      hideLink: false,
    });
  });

  it('is the encrypted link in the crypto mode, the plain one without it', () => {
    expect(linkOf('happ_cryptolink')).toMatchObject({
      displayLink: CRYPTO_LINK,
      redirectLink: 'https://go.test/?to=happ%3A%2F%2Fcrypt4%2Fxyz%2B%2F%3D',
      schemeLink: CRYPTO_LINK,
    });
    expect(linkOf('happ_cryptolink', false, { subscriptionUrl: URL_LINK, subscriptionCryptoLink: null })).toMatchObject({
      displayLink: URL_LINK,
      schemeLink: 'happ://panel.test/sub/a?b=1',
    });
  });

  it('is missing before the panel gave one', () => {
    expect(linkOf('link', false, { subscriptionUrl: null, subscriptionCryptoLink: CRYPTO_LINK })).toBeNull();
    expect(linkOf('happ_cryptolink', false, { subscriptionUrl: null, subscriptionCryptoLink: null })).toBeNull();
    expect(linkOf('happ_cryptolink', false, { subscriptionUrl: null, subscriptionCryptoLink: CRYPTO_LINK })).not.toBeNull();
  });
});

describe('redirect template', () => {
  it.each([
    ['https://go.test/{subscription_link}', 'https://go.test/a%3A%2F%2Fb%3F%28%27'],
    ['https://go.test/{link}', 'https://go.test/a%3A%2F%2Fb%3F%28%27'],
    ['https://go.test/{subscription_link_raw}', "https://go.test/a://b?('"],
    ['https://go.test/{link_raw}#{link}', "https://go.test/a://b?('#a%3A%2F%2Fb%3F%28%27"],
    ['https://go.test/?u=', 'https://go.test/?u=a%3A%2F%2Fb%3F%28%27'],
    ['  ', null],
    [null, null],
  ])('%j', (template, rendered) => {
    expect(renderRedirectLink(template, "a://b?('")).toBe(rendered);
  });

  it('puts the link in as it is, whatever it holds', () => {
    expect(renderRedirectLink('x{link_raw}', '$&{link}')).toBe('x$&{link}');
  });

  it('replaces the scheme', () => {
    expect(toHappScheme('https://a.test/x')).toBe('happ://a.test/x');
    expect(toHappScheme('a.test/x')).toBe('happ://a.test/x');
  });
});
