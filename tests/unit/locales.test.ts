import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { escapeHtml, htmlText, knownLanguage, text } from '../../src/domain/messaging/texts.ts';

const LOCALES = new URL('../../locales/', import.meta.url);
const LANGUAGES = readdirSync(LOCALES).sort();

/** `{file}.{key}` to text, for everything in the folder. */
function texts(language: string): Map<string, string> {
  const folder = new URL(`${language}/`, LOCALES);
  return new Map(
    readdirSync(folder).flatMap((file) => {
      const content = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Record<string, string>;
      return Object.entries(content).map(([key, value]): [string, string] => [`${file.replace(/\.json$/, '')}.${key}`, value]);
    }),
  );
}

/** Keys that a flat object of texts holds more than once. */
function repeatedKeys(json: string): string[] {
  const keys = [...json.matchAll(/"((?:[^"\\]|\\.)*)"\s*(:)?/g)].flatMap(([, name, colon]) => (colon ? [name!] : []));
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

const placeholders = (value: string) => [...new Set([...value.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))].sort();

describe('locales', () => {
  const ru = texts('ru');
  const en = texts('en');

  it('are Russian and English', () => {
    expect(LANGUAGES).toEqual(['en', 'ru']);
    expect(ru.size).toBeGreaterThan(50);
  });

  it('hold the same keys', () => {
    expect([...en.keys()].sort()).toEqual([...ru.keys()].sort());
  });

  it('hold no key twice: of two, JSON.parse keeps the last text', () => {
    for (const language of LANGUAGES) {
      const folder = new URL(`${language}/`, LOCALES);
      for (const file of readdirSync(folder)) {
        expect(repeatedKeys(readFileSync(new URL(file, folder), 'utf8')), `${language}/${file}`).toEqual([]);
      }
    }
    expect(repeatedKeys('{"a": "x", "b": "\\"a\\": ", "a": "y"}')).toEqual(['a']);
  });

  it('hold the same placeholders under each key', () => {
    const of = (all: Map<string, string>) => Object.fromEntries([...all].map(([key, value]) => [key, placeholders(value)]));
    expect(of(en)).toEqual(of(ru));
  });

  it('hold no empty text and no stray brace', () => {
    for (const [key, value] of [...ru, ...en]) {
      expect(value.trim(), key).not.toBe('');
      expect(value.replace(/\{\w+\}/g, ''), key).not.toMatch(/[{}]/);
    }
  });

  it('are Russian in ru and not in en', () => {
    const foreign = [...en].filter(([, value]) => /[а-яё]/i.test(value)).map(([key]) => key);
    expect(foreign).toEqual([]);
    const untranslated = [...ru].filter(([key, value]) => value === en.get(key)).map(([key]) => key);
    const onlyAValue = ['second_factor_changed', 'personal_data'].flatMap((mail) => [`mail.${mail}_html`, `mail.${mail}_text`]);
    expect(untranslated).toEqual(['mail.button_html', ...onlyAValue]);
  });
});

describe('texts', () => {
  it.each([
    ['en', 'en'],
    ['EN-us', 'en'],
    ['en_GB', 'en'],
    ['ru', 'ru'],
    ['zh', 'ru'],
    ['', 'ru'],
    [null, 'ru'],
  ])('language %s is shown as %s', (language, known) => {
    expect(knownLanguage(language)).toBe(known);
  });

  it('fills placeholders as they are, or escaped for HTML', () => {
    const params = { amount: '5 ₽', reason: '<script>"&\'{amount}' };
    expect(text('en', 'messages.topup_failed', params)).toBe('❌ The payment of 5 ₽ did not go through. <script>"&\'{amount}');
    expect(htmlText('en', 'messages.topup_failed', params)).toContain('&lt;script&gt;&quot;&amp;&#39;{amount}');
    expect(text('en', 'errors.devices_can_add', { max: 0 })).toBe('You can add at most 0');
    expect(text('en', 'errors.devices_can_add', { toString: 1 })).toBe('You can add at most {max}');
    expect(escapeHtml('&lt;')).toBe('&amp;lt;');
  });
});
