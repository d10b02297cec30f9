import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { methodDefaults, methodOptions, optionName } from '../../../src/domain/payments/payment-methods.ts';
import { purchaseDescription, topupDescription } from '../../../src/domain/payments/payment-texts.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';

/** These texts use only the settings of the app. */
function appWith(environment: Record<string, string> = {}): App {
  const settings = createSettingsStore({ environment, log: { warn: () => undefined, error: () => undefined } });
  return { settings } as unknown as App;
}

describe('spec 10 O4: the description of an invoice', () => {
  it.each([
    ['cloudpayments', 'CLOUDPAYMENTS_DESCRIPTION'],
    ['mulenpay', 'MULENPAY_DESCRIPTION'],
    ['pal24', 'PAL24_PAYMENT_DESCRIPTION'],
    ['wata', 'WATA_PAYMENT_DESCRIPTION'],
  ])('at %s is that of %s once it is changed', (provider, key) => {
    const common = { PAYMENT_SERVICE_NAME: 'Shop', PAYMENT_BALANCE_DESCRIPTION: 'Credit' };
    const describe = (environment: object, of = provider) =>
      topupDescription(appWith({ ...common, ...environment }), of, 'en', '500 ₽');
    expect(describe({})).toBe('Shop - Credit 500 ₽');
    expect(describe({ [key]: 'Services' })).toBe('Shop - Services 500 ₽');
    expect(describe({ [key]: 'Services' }, 'yookassa')).toBe('Shop - Credit 500 ₽');
  });

  it('of a top-up is in the language of the payer while nothing is changed', () => {
    expect(topupDescription(appWith(), 'wata', 'ru', '500 ₽')).toBe('Интернет-сервис - Пополнение баланса 500 ₽');
    expect(topupDescription(appWith(), 'wata', 'en', '500 ₽')).not.toMatch(/[а-яё]/i);
  });

  it.each([
    [{}, 'Quick — 30d'],
    [{ PAYMENT_SUBSCRIPTION_DESCRIPTION: 'Access' }, 'Shop - Access'],
    [{ PAYMENT_SUBSCRIPTION_TEMPLATE: '{description} ({service_name})' }, 'Quick — 30d (Shop)'],
    [{ PAYMENT_SUBSCRIPTION_DESCRIPTION: 'Access', PAYMENT_SUBSCRIPTION_TEMPLATE: '{description}' }, 'Access'],
  ])('of a purchase is, with %j, %j', (environment, description) => {
    expect(purchaseDescription(appWith({ PAYMENT_SERVICE_NAME: 'Shop', ...environment }), 'en', 'Quick — 30d')).toBe(description);
  });
});

describe('spec 10 O4: the buttons of PAL24', () => {
  const hidden = (...names: string[]) =>
    appWith(Object.fromEntries(names.map((name) => [`PAL24_${name}_BUTTON_VISIBLE`, 'false'])));

  it.each([
    [[], ['card', 'sbp']],
    [['SBP'], ['card']],
    [['CARD'], ['sbp']],
    // Without any option nobody could pay.
    [
      ['SBP', 'CARD'],
      ['card', 'sbp'],
    ],
  ])('without those of %j are %j', (names, options) => {
    expect([...methodOptions(hidden(...names), methodDefaults('pal24')!)].sort()).toEqual(options);
    expect([...methodOptions(hidden(...names), methodDefaults('freekassa')!)].sort()).toEqual(['card', 'sbp']);
  });

  it('have the texts of the settings', () => {
    const app = appWith({ PAL24_SBP_BUTTON_TEXT: 'Fast payment' });
    expect(optionName(app, 'en', 'pal24', 'sbp')).toBe('Fast payment');
    expect(optionName(app, 'en', 'pal24', 'card')).toBe(optionName(app, 'en', 'freekassa', 'card'));
    expect(optionName(app, 'en', 'freekassa', 'sbp')).not.toBe('Fast payment');
  });
});
