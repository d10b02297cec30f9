import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../../src/core/errors.ts';
import { systemRandom } from '../../../src/core/random.ts';
import {
  cabinetLink,
  changeCodeHash,
  checkEmailAddress,
  maskedAddress,
} from '../../../src/domain/identity/email/mail-secrets.ts';
import {
  authMethods,
  canSignInByEmail,
  cleanName,
  displayedName,
  fullName,
  newReferralCode,
  normaliseLanguage,
  timedReferralCode,
} from '../../../src/domain/identity/rules.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';

const SILENT = { warn: () => undefined, error: () => undefined };

describe('cleanName', () => {
  it.each([
    ['  Ann  ', 'Ann'],
    ['<b>Tom & Co</b>', '‹b›Tom ＆ Co‹/b›'],
    ['   ', null],
    [null, null],
    [undefined, null],
  ])('%j becomes %j', (name, clean) => expect(cleanName(name)).toBe(clean));

  it('cuts at 255 characters and never through one', () => {
    expect(Array.from(cleanName('😀'.repeat(300)) ?? '')).toHaveLength(255);
  });
});

describe('displayedName (spec 10 O4)', () => {
  const named = (keywords: string, name: string) =>
    displayedName(
      { settings: createSettingsStore({ environment: { DISPLAY_NAME_BANNED_KEYWORDS: keywords }, log: SILENT }) },
      name,
    );

  it.each([
    ['', 'Free VPN support', 'Free VPN support'],
    [' , ,', 'Ann', 'Ann'],
    ['vpn, t.me/', 'Ann', 'Ann'],
    ['vpn, t.me/', 'Free VPN', null],
    ['vpn, t.me/', 'ＶＰＮ', null],
    ['vpn, t.me/', 'see T.me/shop', null],
    ['Админ', 'администратор', null],
    ['v.n', 'van', 'van'],
  ])('with the words %j, %j is stored as %j', (keywords, name, stored) => expect(named(keywords, name)).toBe(stored));
});

describe('normaliseLanguage', () => {
  it.each([
    ['ru-RU', 'ru'],
    [' EN ', 'en'],
    ['', 'ru'],
    [null, 'ru'],
    ['-x', 'ru'],
  ])('%j becomes %j', (language, short) => expect(normaliseLanguage(language)).toBe(short));
});

describe('derived names', () => {
  const nobody = { id: 7, firstName: null, lastName: null, username: null, messengerId: null, email: null };
  it.each([
    [{ ...nobody, firstName: 'Ann', lastName: 'Lee', username: 'al' }, 'Ann Lee'],
    [{ ...nobody, lastName: 'Lee', username: 'al' }, 'Lee'],
    [{ ...nobody, username: 'al', messengerId: 5 }, 'al'],
    [{ ...nobody, messengerId: 5, email: 'x@y.org' }, 'ID5'],
    [{ ...nobody, email: 'box@y.org' }, 'box'],
    [nobody, 'User7'],
  ])('%j shows as %s', (user, name) => expect(fullName(user)).toBe(name));

  it('lists sign-in methods in the order of the interface', () => {
    const none = {
      messengerId: null,
      email: null,
      hasPassword: false,
      googleId: null,
      yandexId: null,
      discordId: null,
      vkId: null,
    };
    expect(authMethods({ ...none, email: 'a@b.org' })).toEqual([]);
    expect(
      authMethods({
        ...none,
        vkId: 3,
        googleId: 'g',
        yandexId: 'y',
        discordId: 'd',
        email: 'a@b.org',
        hasPassword: true,
        messengerId: 1,
      }),
    ).toEqual(['messenger', 'email', 'google', 'yandex', 'discord', 'vk']);
  });

  it('counts an e-mail as a sign-in method only when it can be used (spec 01 H21)', () => {
    const user = { email: 'a@b.org', hasPassword: true, emailVerified: false };
    expect(canSignInByEmail(user, true)).toBe(false);
    expect(canSignInByEmail(user, false)).toBe(true);
    expect(canSignInByEmail({ ...user, emailVerified: true }, true)).toBe(true);
    expect(canSignInByEmail({ ...user, emailVerified: true, hasPassword: false }, true)).toBe(false);
  });
});

describe('referral codes', () => {
  it('are ref and 8 letters or digits', () => expect(newReferralCode(systemRandom)).toMatch(/^ref[A-Za-z0-9]{8}$/));
  it('fall back to unix time', () => expect(timedReferralCode(new Date(1_700_123_456_000))).toBe('ref123456'));
});

describe('e-mail addresses', () => {
  it.each(['a@mail.test', 'a@box.local', 'a@host.localhost', 'a@nodot', `${'a'.repeat(250)}@b.org`])('refuses %s', (email) => {
    expect(() => checkEmailAddress(email, 'email')).toThrow(ValidationError);
  });
  it.each(['a@example.com', 'a.b+c@sub.domain.org'])('accepts %s', (email) => {
    expect(() => checkEmailAddress(email, 'email')).not.toThrow();
  });
  it('masks', () => expect(maskedAddress('anna@example.com')).toBe('a***@example.com'));
  it('binds a change code to user and address', () => {
    expect(changeCodeHash(1, 'a@b.org', '123456')).not.toBe(changeCodeHash(2, 'a@b.org', '123456'));
    expect(changeCodeHash(1, 'a@b.org', '123456')).not.toBe(changeCodeHash(1, 'c@b.org', '123456'));
  });
  it('builds links with and without a slash at the end', () => {
    expect(cabinetLink('https://x.org/', 'verify-email', 'ab')).toBe('https://x.org/verify-email?token=ab');
    expect(cabinetLink('https://x.org/app', 'verify-email', 'ab')).toBe('https://x.org/app/verify-email?token=ab');
  });
});
