import { FAKE_SHOP_ID } from '../freekassa/connection.ts';
import type { NotificationRules } from '../freekassa/notification.ts';
import type { OrderApi } from '../freekassa/order-api.ts';
import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface KassaAiConnection {
  api: OrderApi;
  rules: NotificationRules;
  /** Where the payer chose no sub-option. */
  paymentSystem: string;
  /** ISO 4217, upper case. */
  currency: string;
  minKopeks: number;
  maxKopeks: number;
}

export const KASSA_AI_API_URL = 'https://api.fk.life/v1';

/** Null while a credential of Kassa.ai is missing. */
export function kassaAiConnection({ settings, ...access }: Pick<ProviderAccess, 'settings' | 'fake'>): KassaAiConnection | null {
  const fake = access.fake();
  const shopId = fake ? FAKE_SHOP_ID : String(settings.get('KASSA_AI_SHOP_ID') ?? '');
  const apiKey = fake ? fake.secret : (settings.get('KASSA_AI_API_KEY') ?? '').trim();
  const word2 = fake ? fake.secret : (settings.get('KASSA_AI_SECRET_WORD_2') ?? '').trim();
  if ([shopId, apiKey, word2].includes('')) return null;
  return {
    api: { method: 'kassa_ai', baseUrl: fake ? `${bareUrl(fake.baseUrl)}/v1` : KASSA_AI_API_URL, shopId, apiKey },
    // The provider publishes no addresses.
    rules: { shopId, word2, senders: null },
    paymentSystem: String(settings.get('KASSA_AI_PAYMENT_SYSTEM_ID')),
    currency: settings.get('KASSA_AI_CURRENCY').trim().toUpperCase(),
    minKopeks: settings.get('KASSA_AI_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('KASSA_AI_MAX_AMOUNT_KOPEKS'),
  };
}
