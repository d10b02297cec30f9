import { bareUrl, FAKE_NETWORKS, type ProviderAccess } from '../wire/provider-access.ts';
import type { NotificationRules } from './notification.ts';
import type { OrderApi } from './order-api.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface FreekassaConnection {
  /** Null = without an API key: the form alone, whose notifications are credited as they come (`FREEKASSA_CREDIT_WITHOUT_API`). */
  api: OrderApi | null;
  /** Create orders by the API even where no payment system is chosen. */
  usesApi: boolean;
  /** Payment system where the payer chose no sub-option. */
  paymentSystem: string | null;
  form: { url: string; shopId: string; word1: string };
  rules: NotificationRules;
  /** ISO 4217, upper case. */
  currency: string;
  minKopeks: number;
  maxKopeks: number;
  expiresInSeconds: number;
}

export const FREEKASSA_API_URL = 'https://api.fk.life/v1';
export const FREEKASSA_FORM_URL = 'https://pay.fk.money/';
/** Shop id of the fakes of Freekassa and Kassa.ai. */
export const FAKE_SHOP_ID = '7012';

/** Null while a credential of Freekassa is missing. */
export function freekassaConnection(access: Omit<ProviderAccess, 'http' | 'now' | 'nextNonce'>): FreekassaConnection | null {
  const { settings, proxies, callbackNetworks, creditsWithoutApi } = access;
  const fake = access.fake();
  const secret = (name: 'FREEKASSA_API_KEY' | 'FREEKASSA_SECRET_WORD_1' | 'FREEKASSA_SECRET_WORD_2') =>
    fake ? fake.secret : (settings.get(name) ?? '').trim();
  const shopId = fake ? FAKE_SHOP_ID : String(settings.get('FREEKASSA_SHOP_ID') ?? '');
  const [apiKey, word1, word2] = [
    secret('FREEKASSA_API_KEY'),
    secret('FREEKASSA_SECRET_WORD_1'),
    secret('FREEKASSA_SECRET_WORD_2'),
  ];
  if ([shopId, word1, word2].includes('') || (apiKey === '' && !creditsWithoutApi)) return null;
  const baseUrl = fake ? `${bareUrl(fake.baseUrl)}/v1` : FREEKASSA_API_URL;
  const system = settings.get('FREEKASSA_PAYMENT_SYSTEM_ID');
  return {
    api: apiKey === '' ? null : { method: 'freekassa', baseUrl, shopId, apiKey },
    usesApi: settings.get('FREEKASSA_USE_API'),
    paymentSystem: system === null ? null : String(system),
    form: { url: fake ? `${bareUrl(fake.baseUrl)}/form` : FREEKASSA_FORM_URL, shopId, word1 },
    rules: { shopId, word2, senders: { networks: fake ? FAKE_NETWORKS : callbackNetworks, proxies } },
    currency: settings.get('FREEKASSA_CURRENCY').trim().toUpperCase(),
    minKopeks: settings.get('FREEKASSA_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('FREEKASSA_MAX_AMOUNT_KOPEKS'),
    expiresInSeconds: settings.get('FREEKASSA_PAYMENT_TIMEOUT_SECONDS'),
  };
}
