import type { SettingKey, SettingValues } from '../settings/types.ts';

type KeysOf<V> = { [K in SettingKey]: SettingValues[K] extends V ? K : never }[SettingKey];
type AmountKey = KeysOf<number>;
type NameKey = KeysOf<string>;
type SwitchKey = KeysOf<boolean>;

/** Properties of a payment method before an administrator configures it (spec 03 sections 2.4, 3 and 4.3). */
export interface MethodDefaults {
  /** Id in the interface and in `payment_method_configs`. */
  id: string;
  /** Name in error texts; the shown name is `nameSetting`'s value where there is one. */
  name: string;
  nameSetting?: NameKey;
  /** Method id of the provider that serves it, where it is not `id` itself. */
  provider?: string;
  /** Sub-option that the method stands for, where the provider has several. */
  fixedOption?: string;
  /** Must be on besides the provider being configured. */
  switchSetting?: SwitchKey;
  /** Kopeks, or the setting that contains them. */
  min: number | AmountKey;
  max: number | AmountKey;
  /** The provider's own upper limit where it is below what the setting allows by default; kopeks. */
  providerMax?: number;
  /** Sub-options in the order they are shown. */
  options: readonly string[];
  /** Which id is the `identifier` of a payment (spec 03 section 4.1). */
  identifiedBy: 'external' | 'order';
  /** Whether the background check asks this provider (spec 03 section 4.3): not where rate limits or wrong answers forbid it. */
  isPolled: boolean;
  /** Has its own callback route, which the health of callbacks lists. */
  hasCallbacks: boolean;
  /** No public document confirms the provider's wire, so that a first real payment should be watched (03a sections 11 and 18). */
  isUnconfirmed?: boolean;
}

const usual = { options: [], identifiedBy: 'external', isPolled: true, hasCallbacks: true } as const;
const cardAndSbp = ['sbp', 'card'] as const;

/** All methods, in the order a new installation lists them (spec 03 section 5.1). */
export const METHODS: readonly MethodDefaults[] = [
  {
    ...usual,
    id: 'messenger_stars',
    name: 'Messenger Stars',
    nameSetting: 'MESSENGER_STARS_DISPLAY_NAME',
    min: 100,
    max: 1_000_000,
    isPolled: false,
    hasCallbacks: false,
  },
  { ...usual, id: 'tribute', name: 'Tribute', min: 10_000, max: 10_000_000, isPolled: false },
  { ...usual, id: 'cryptobot', name: 'CryptoBot', nameSetting: 'CRYPTOBOT_DISPLAY_NAME', min: 1_000, max: 10_000_000 },
  {
    ...usual,
    id: 'heleket',
    name: 'Heleket',
    nameSetting: 'HELEKET_DISPLAY_NAME',
    min: 1_000,
    max: 10_000_000,
  },
  {
    ...usual,
    id: 'yookassa',
    name: 'YooKassa',
    nameSetting: 'YOOKASSA_DISPLAY_NAME',
    min: 'YOOKASSA_MIN_AMOUNT_KOPEKS',
    max: 'YOOKASSA_MAX_AMOUNT_KOPEKS',
    options: ['card', 'sbp'],
  },
  {
    ...usual,
    id: 'mulenpay',
    name: 'Mulen Pay',
    nameSetting: 'MULENPAY_DISPLAY_NAME',
    min: 'MULENPAY_MIN_AMOUNT_KOPEKS',
    max: 'MULENPAY_MAX_AMOUNT_KOPEKS',
    identifiedBy: 'order',
  },
  {
    ...usual,
    id: 'pal24',
    name: 'PAL24',
    nameSetting: 'PAL24_DISPLAY_NAME',
    min: 'PAL24_MIN_AMOUNT_KOPEKS',
    max: 'PAL24_MAX_AMOUNT_KOPEKS',
    options: cardAndSbp,
  },
  {
    ...usual,
    id: 'platega',
    name: 'Platega',
    nameSetting: 'PLATEGA_DISPLAY_NAME',
    min: 'PLATEGA_MIN_AMOUNT_KOPEKS',
    max: 'PLATEGA_MAX_AMOUNT_KOPEKS',
    options: ['2', '11', '12', '13'],
  },
  {
    ...usual,
    id: 'wata',
    name: 'Wata',
    nameSetting: 'WATA_DISPLAY_NAME',
    min: 'WATA_MIN_AMOUNT_KOPEKS',
    max: 'WATA_MAX_AMOUNT_KOPEKS',
    providerMax: 99_999_999,
    isPolled: false,
  },
  {
    ...usual,
    id: 'freekassa',
    name: 'Freekassa',
    nameSetting: 'FREEKASSA_DISPLAY_NAME',
    min: 'FREEKASSA_MIN_AMOUNT_KOPEKS',
    max: 'FREEKASSA_MAX_AMOUNT_KOPEKS',
    options: cardAndSbp,
    identifiedBy: 'order',
  },
  {
    ...usual,
    id: 'freekassa_sbp',
    name: 'Freekassa',
    nameSetting: 'FREEKASSA_SBP_DISPLAY_NAME',
    provider: 'freekassa',
    fixedOption: 'sbp',
    switchSetting: 'FREEKASSA_SBP_ENABLED',
    min: 'FREEKASSA_MIN_AMOUNT_KOPEKS',
    max: 'FREEKASSA_MAX_AMOUNT_KOPEKS',
    identifiedBy: 'order',
    hasCallbacks: false,
  },
  {
    ...usual,
    id: 'freekassa_card',
    name: 'Freekassa',
    nameSetting: 'FREEKASSA_CARD_DISPLAY_NAME',
    provider: 'freekassa',
    fixedOption: 'card',
    switchSetting: 'FREEKASSA_CARD_ENABLED',
    min: 'FREEKASSA_MIN_AMOUNT_KOPEKS',
    max: 'FREEKASSA_MAX_AMOUNT_KOPEKS',
    identifiedBy: 'order',
    hasCallbacks: false,
  },
  {
    ...usual,
    id: 'cloudpayments',
    name: 'CloudPayments',
    nameSetting: 'CLOUDPAYMENTS_DISPLAY_NAME',
    min: 'CLOUDPAYMENTS_MIN_AMOUNT_KOPEKS',
    max: 'CLOUDPAYMENTS_MAX_AMOUNT_KOPEKS',
  },
  {
    ...usual,
    id: 'kassa_ai',
    name: 'KassaAI',
    nameSetting: 'KASSA_AI_DISPLAY_NAME',
    min: 'KASSA_AI_MIN_AMOUNT_KOPEKS',
    max: 'KASSA_AI_MAX_AMOUNT_KOPEKS',
    options: cardAndSbp,
    identifiedBy: 'order',
    isUnconfirmed: true,
  },
  {
    ...usual,
    id: 'riopay',
    name: 'RioPay',
    nameSetting: 'RIOPAY_DISPLAY_NAME',
    min: 'RIOPAY_MIN_AMOUNT_KOPEKS',
    max: 'RIOPAY_MAX_AMOUNT_KOPEKS',
    identifiedBy: 'order',
  },
  {
    ...usual,
    id: 'severpay',
    name: 'SeverPay',
    nameSetting: 'SEVERPAY_DISPLAY_NAME',
    min: 'SEVERPAY_MIN_AMOUNT_KOPEKS',
    max: 'SEVERPAY_MAX_AMOUNT_KOPEKS',
    identifiedBy: 'order',
  },
];

/** The fake provider of the sandbox: listed first and only while the sandbox is on (spec 00). */
export const SANDBOX_METHOD: MethodDefaults = {
  ...usual,
  id: 'sandbox',
  name: 'Sandbox',
  min: 1_000,
  max: 100_000_000,
  hasCallbacks: false,
};

const BY_ID = new Map([SANDBOX_METHOD, ...METHODS].map((method) => [method.id, method]));

/** Null for an id that is no payment method of a provider. */
export function methodDefaults(id: string): MethodDefaults | null {
  return BY_ID.get(id) ?? null;
}
