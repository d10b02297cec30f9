import { describe, expect, it } from 'vitest';
import { readBackground, shownBackground } from '../../../src/domain/storefront/landings/landings.ts';
import {
  isDiscountActive,
  isReservedSlug,
  landingPeriodLabel,
  landingPrice,
  localised,
  offeredPeriods,
} from '../../../src/domain/storefront/landings/rules.ts';
import { cleanCss } from '../../../src/domain/storefront/landings/show-landing.ts';

const at = (text: string) => new Date(`2026-05-${text}T00:00:00Z`);

describe('localised', () => {
  it.each([
    [{ ru: 'р', en: 'e' }, 'en', 'e'],
    [{ ru: 'р', en: 'e' }, 'fa', 'р'],
    [{ en: 'e', zh: 'z' }, 'fa', 'e'],
    [{ zh: 'z' }, 'ru', 'z'],
    [{ ru: '', zh: 'z' }, 'ru', 'z'],
    [{}, 'ru', ''],
    [null, 'ru', ''],
    [{ ru: 'р' }, 'constructor', 'р'],
  ])('%j in %s is "%s"', (texts, locale, expected) => expect(localised(texts, locale)).toBe(expected));
});

describe('discounts', () => {
  const discount = { discountPercent: 20, discountStartsAt: at('10'), discountEndsAt: at('20'), discountOverrides: { 7: 50 } };
  it.each([
    ['09', false],
    ['10', true],
    ['19', true],
    ['20', false],
  ])('on day %s: %s', (day, expected) => expect(isDiscountActive(discount, at(day))).toBe(expected));

  it('is null without its three parts', () => {
    for (const part of ['discountPercent', 'discountStartsAt', 'discountEndsAt']) {
      expect(isDiscountActive({ ...discount, [part]: null }, at('15'))).toBe(false);
    }
  });

  const tariff = { id: 1, isDaily: false, periodPrices: { 30: 999, 90: 0 } };
  it.each([
    [tariff, 30, '15', { kopeks: 800, originalKopeks: 999, percent: 20 }],
    [{ ...tariff, id: 7 }, 30, '15', { kopeks: 500, originalKopeks: 999, percent: 50 }],
    [tariff, 30, '21', { kopeks: 999, originalKopeks: 999, percent: null }],
    [{ ...tariff, periodPrices: { 30: 1 } }, 30, '15', { kopeks: 1, originalKopeks: 1, percent: 20 }],
    [tariff, 90, '15', null],
    [tariff, 31, '15', null],
    [{ ...tariff, isDaily: true }, 30, '15', null],
  ])('%j for %i days on %s costs %j', (sold, days, day, expected) => {
    expect(landingPrice(discount, sold as typeof tariff, days, at(day))).toEqual(expected);
  });
});

describe('periods', () => {
  const tariff = { id: 1, periodPrices: { 90: 1, 30: 1 } };
  it.each([
    [{}, [30, 90]],
    [{ 2: [7] }, [30, 90]],
    [{ 1: [] }, [30, 90]],
    [{ 1: [90, 7, 90] }, [7, 90]],
  ])('%j offers %j', (allowedPeriods, expected) => expect(offeredPeriods({ allowedPeriods }, tariff)).toEqual(expected));

  it.each([
    [1, '1 day'],
    [3, '3 days'],
    [7, '1 week'],
    [14, '2 weeks'],
    [29, '29 days'],
    [30, '1 month'],
    [45, '1 mo. + 15 d.'],
    [60, '2 months'],
    [90, '3 months'],
    [120, '4 mo.'],
    [180, '6 months'],
    [365, '1 year'],
    [456, '1 year + 3 mo.'],
  ])('%i days are called "%s"', (days, label) => expect(landingPeriodLabel(days)).toBe(label));
});

describe('slugs', () => {
  it.each(['purchase', 'admin', 'api', 'health', 'static', 'assets', 'favicon', 'robots', 'sitemap', 'well-known', 'activate'])(
    '%s is reserved',
    (slug) => expect(isReservedSlug(slug)).toBe(true),
  );
  it.each(['spring', 'purchases', 'constructor'])('%s is free', (slug) => expect(isReservedSlug(slug)).toBe(false));
});

describe('spec 03 H23: cleanCss', () => {
  it.each([
    'body { color: #fff; background: rgb(0 0 0 / 50%) }',
    '.a > .b::after { content: "→"; width: calc(100% - 2rem) }',
    '@media (min-width: 600px) { .hero { grid-template-columns: 1fr 1fr } }',
    '.x { background: url("https://cdn.example.com/a.png") }',
  ])('leaves honest style as it is: %s', (css) => expect(cleanCss(css)).toBe(css));

  it.each([
    '</style><script>alert(1)</script>',
    '<</style>/style><img src=x onerror=alert(1)>',
    '@import url(https://evil.example.com/a.css);',
    '@imp\\6frt "https://evil.example.com/a.css";',
    '@IMPORT "https://evil.example.com/a.css"; a{}',
    '@im@import x;port "https://evil.example.com";',
    'a { background: url(javascript:alert(1)) }',
    'a { background: url( "http://evil.example.com/x" ) }',
    'a { background: u\\72l(//evil.example.com/x) }',
    'a { background: url(data:image/svg+xml;base64,PHN2Zz4=) }',
    'a { width: expression(alert(1)) }',
    'a { width: exp\\72 ession(alert(1)) }',
    'a { behavior: url(x.htc) }',
    'a { -moz-binding: url(x.xml#y) }',
    'a { background: image-set("http://evil.example.com/x" 1x) }',
    'a { background: url(https://evil.example.com/"onload=x) }',
    'a { background: url("https://evil.example.com/}</style>") }',
    'a\\3c/style\\3e { }',
    'a { b: java\u0000script:alert(1) }',
  ])('takes the sting out of: %s', (css) => {
    const clean = cleanCss(css);
    expect(clean).not.toMatch(/<|\\|@import|javascript\s*:|http:|data:|expression\s*\(|behavior\s*:|-moz-binding/i);
    expect(clean).not.toMatch(/url\(\s*(?!"(?:https:\/\/[^"]*)?"\))/i);
    expect(cleanCss(clean)).toBe(clean);
  });
});

describe('backgrounds', () => {
  it.each([
    [{ enabled: true, type: 'aurora', opacity: 0.5, blur: 100, reducedOnMobile: true, settings: { speed: 1, color: '#fff' } }],
    [{ enabled: false, type: 'none' }],
  ])('%j is read unchanged, without unknown keys', (config) => {
    expect(readBackground({ ...config, evil: '<script>' })).toEqual(config);
    expect(shownBackground({ ...config, evil: '<script>' })).toEqual(config);
  });

  it.each([
    { enabled: 'yes' },
    { type: 'fireworks' },
    { opacity: 1.1 },
    { opacity: Number.NaN },
    { blur: -1 },
    { blur: '3' },
    { reducedOnMobile: 1 },
    { settings: [] },
    { settings: { a: { b: 1 } } },
    { settings: { ['k'.repeat(51)]: 1 } },
    { settings: { a: 'x'.repeat(201) } },
    { settings: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 1])) },
  ])('%j is refused, and not shown if it lies stored', (config) => {
    expect(readBackground({ enabled: true, type: 'dots', ...config })).toHaveProperty('problem');
    expect(shownBackground({ enabled: true, type: 'dots', ...config })).toBeNull();
  });
});
