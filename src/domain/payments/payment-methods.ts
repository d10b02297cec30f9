import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { requireUser } from '../identity/find-user.ts';
import { type TextKey, text } from '../messaging/texts.ts';
import type { SettingKey, SettingValues } from '../settings/types.ts';
import { insertMethod, listMethodsOfUser, type UserMethod } from './method-repo.ts';
import type { PaymentProvider, ProviderLimit } from './ports.ts';
import { isClosed, knownLimits, withinProviderLimits } from './provider-limits.ts';
import type { MethodOption, OfferedMethod } from './types.ts';

/** The provider behind a method; null where this installation has no adapter for it. */
export function providerOf(app: App, method: MethodDefaults): PaymentProvider | null {
  return app.ports.payments.byMethod(method.provider ?? method.id) ?? null;
}

/** Whether payments by this method are possible now. Reads the settings on each call (spec 03 section 2.4). */
export function isMethodConfigured(app: App, method: MethodDefaults): boolean {
  if (method.switchSetting && !app.settings.get(method.switchSetting)) return false;
  return providerOf(app, method)?.isConfigured() ?? false;
}

/** Name of a method for users; for an unknown method its id. */
export function methodName(app: App, id: string): string {
  const method = methodDefaults(id);
  if (!method) return id;
  return (method.nameSetting && app.settings.get(method.nameSetting)) || method.name;
}

/** Limits of a method in kopeks, without the administrators' overrides. What the provider itself refuses is above the maximum. */
export function methodLimits(app: App, method: MethodDefaults): { minKopeks: number; maxKopeks: number } {
  const read = (limit: MethodDefaults['min']) => (typeof limit === 'number' ? limit : app.settings.get(limit));
  const maxKopeks = Math.min(read(method.max), method.providerMax ?? Number.POSITIVE_INFINITY);
  return { minKopeks: read(method.min), maxKopeks };
}

/** The buttons of PAL24: switch and name of each. */
const PAL24_BUTTONS = {
  sbp: { visible: 'PAL24_SBP_BUTTON_VISIBLE', name: 'PAL24_SBP_BUTTON_TEXT' },
  card: { visible: 'PAL24_CARD_BUTTON_VISIBLE', name: 'PAL24_CARD_BUTTON_TEXT' },
} as const;

function pal24Button(methodId: string, option: string) {
  return methodId === 'pal24' && (option === 'sbp' || option === 'card') ? PAL24_BUTTONS[option] : null;
}

/**
 * Sub-options that are available now; those of Platega come from a setting, unknown codes are ignored. Of PAL24 the
 * visible ones (spec 10 O4), or all where none is.
 */
export function methodOptions(app: App, method: MethodDefaults): readonly string[] {
  if (method.id === 'pal24') {
    const visible = method.options.filter((option) => {
      const button = pal24Button(method.id, option);
      return button === null || app.settings.get(button.visible);
    });
    return visible.length > 0 ? visible : method.options;
  }
  if (method.id !== 'platega') return method.options;
  const active = app.settings
    .get('PLATEGA_ACTIVE_METHODS')
    .split(',')
    .map((code) => code.trim());
  const known = method.options.filter((code) => active.includes(code));
  return known.length > 0 ? known : ['2'];
}

/** Name of a sub-option in a language; of PAL24 the operator's, where one is set. */
export function optionName(app: App, language: string, methodId: string, option: string): string {
  const button = pal24Button(methodId, option);
  const chosen = button && app.settings.get(button.name)?.trim();
  if (chosen) return chosen;
  const key = methodId === 'platega' ? `payments.option_platega_${option}` : `payments.option_${option}_name`;
  return text(language, key as TextKey);
}

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
  /** Which id is the `identifier` of a payment. */
  identifiedBy: 'external' | 'order';
  /** Whether the background check asks this provider: not where rate limits or wrong answers forbid it. */
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

/**
 * Makes sure that every method has its configuration row; called at each start. A new row is enabled if its
 * provider is configured at that time; later changes are made by administrators. The sandbox's method exists only where the sandbox
 * is on, and is the first.
 */
export async function seedPaymentMethods(app: App): Promise<void> {
  await inTransaction(app, async (t) => {
    for (const method of METHODS) await seed(t, method, false);
    if (providerOf(t, SANDBOX_METHOD)?.isConfigured()) await seed(t, SANDBOX_METHOD, true);
  });
}

async function seed(t: App, method: MethodDefaults, isFirst: boolean): Promise<void> {
  const subOptions =
    method.options.length > 0 ? Object.fromEntries(method.options.map((option) => [option, true as const])) : null;
  await insertMethod(t.db, { methodId: method.id, isEnabled: isMethodConfigured(t, method), subOptions, isFirst }, t.clock.now());
}

interface ListMethodsOptions {
  /** The filter by first top-up counts for the balance page only, not for gifts. */
  ignoreFirstTopupFilter?: boolean;
}

/**
 * The methods that a user may pay with now: enabled, configured and admitted by all filters, with the administrators' overrides merged
 * into the defaults. @throws AppError 404 'User not found'
 */
export async function listPaymentMethodsFor(
  app: App,
  userId: number,
  options: ListMethodsOptions = {},
): Promise<OfferedMethod[]> {
  const user = await requireUser(app, userId);
  const rows = await listMethodsOfUser(app.db, userId, !options.ignoreFirstTopupFilter);
  const offers = rows.map(async (row) => {
    const method = methodDefaults(row.methodId);
    if (!method || !isMethodConfigured(app, method)) return null;
    return offer(app, method, row, user.language, await knownLimits(app, providerOf(app, method)));
  });
  return (await Promise.all(offers)).filter((offered) => offered !== null);
}

/** @param known what the provider itself says of its ways to pay @returns null when the only way of the method is closed there */
function offer(
  app: App,
  method: MethodDefaults,
  row: UserMethod,
  language: string,
  known: readonly ProviderLimit[],
): OfferedMethod | null {
  if (method.fixedOption && isClosed(method.fixedOption, known)) return null;
  const defaults = methodLimits(app, method);
  const configured = {
    minKopeks: row.minAmountKopeks ?? defaults.minKopeks,
    maxKopeks: Math.min(row.maxAmountKopeks ?? defaults.maxKopeks, method.providerMax ?? Number.POSITIVE_INFINITY),
  };
  const available = methodOptions(app, method).filter((option) => !isClosed(option, known));
  const options = describeOptions(app, language, method, available, row.subOptions);
  const ways = method.fixedOption ? [method.fixedOption] : (options?.map(({ id }) => id) ?? available);
  const limits = withinProviderLimits(configured, ways, known);
  return {
    id: method.id,
    name: row.displayName ?? methodName(app, method.id),
    ...{ minAmountKopeks: limits.minKopeks, maxAmountKopeks: limits.maxKopeks, options },
  };
}

/** Options that are not switched off; a method without any stored choice shows none. */
function describeOptions(
  app: App,
  language: string,
  method: MethodDefaults,
  available: readonly string[],
  chosen: UserMethod['subOptions'],
): MethodOption[] | null {
  if (chosen === null || available.length === 0) return null;
  const shown = available.filter((option) => chosen[option] !== false);
  if (shown.length === 0) return null;
  return shown.map((id) => {
    const name = optionName(app, language, method.id, id);
    return {
      id,
      name,
      description: method.id === 'platega' ? name : text(language, `payments.option_${id}_description` as TextKey),
    };
  });
}
