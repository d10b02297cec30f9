import type { App } from '../../../core/app.ts';
import { listPaymentMethodsFor } from '../list-methods.ts';
import { methodDefaults } from '../method-defaults.ts';
import type { OfferedMethod } from '../types.ts';

/** A payment method under its mini-app name: how it is shown, and which method of the service serves it. */
interface MiniappMethodTraits {
  id: string;
  /** Method of the service, where it has another id. */
  method?: string;
  /** Option of that method that the mini-app lists as a method of its own. */
  fixedOption?: string;
  icon: string;
  /** Only these are named; for the others clients have their own texts. */
  isNamed?: boolean;
}

/** In the order of the answer (spec 02 section 12.5). */
const METHODS: readonly MiniappMethodTraits[] = [
  { id: 'sandbox', icon: '🧪', isNamed: true },
  { id: 'stars', method: 'messenger_stars', icon: '⭐' },
  { id: 'yookassa_sbp', method: 'yookassa', fixedOption: 'sbp', icon: '🏦' },
  { id: 'yookassa', icon: '💳' },
  { id: 'cloudpayments', icon: '💳' },
  { id: 'freekassa', icon: '💳' },
  { id: 'mulenpay', icon: '💳', isNamed: true },
  { id: 'pal24', icon: '🏦' },
  { id: 'platega', icon: '💳' },
  { id: 'wata', icon: '🌊' },
  { id: 'kassa_ai', icon: '💳', isNamed: true },
  { id: 'riopay', icon: '💳', isNamed: true },
  { id: 'severpay', icon: '💳', isNamed: true },
  { id: 'cryptobot', icon: '🪙' },
  { id: 'heleket', icon: '🪙' },
  { id: 'tribute', icon: '💎' },
];
const BY_ID = new Map(METHODS.map((method) => [method.id, method]));

/** Heleket's own lower limit in the mini-app, kopeks. */
const HELEKET_MIN_KOPEKS = 10_000;

/** A method as the mini-app lists it; kopeks. */
export interface MiniappMethod {
  id: string;
  /** Method and option of the service. */
  method: string;
  fixedOption: string | null;
  name: string | null;
  icon: string;
  requiresAmount: boolean;
  currency: string;
  minAmountKopeks: number;
  /** Null = none. */
  maxAmountKopeks: number | null;
  amountStepKopeks: number | null;
  /** Origin of the page that is shown inside the mini-app; null = the payer is redirected. */
  iframeOrigin: string | null;
  options: { id: string; icon: string; title: string; description: string }[];
}

/** The mini-app's name of a method, and the option that it stands for; null for a name that the mini-app does not know. */
export function miniappMethodTraits(id: string): { method: string; fixedOption: string | null } | null {
  const traits = BY_ID.get(id);
  return traits ? { method: traits.method ?? traits.id, fixedOption: traits.fixedOption ?? null } : null;
}

/**
 * The methods that the user may pay with in the mini-app: those of the cabinet, so with the same filters and limits (spec 03 section
 * 5.1), in the mini-app's order and under its names (spec 02 section 12.5). @throws AppError 404
 */
export async function listMiniappMethods(app: App, userId: number): Promise<MiniappMethod[]> {
  const offered = new Map((await listPaymentMethodsFor(app, userId)).map((method) => [method.id, method]));
  return METHODS.flatMap((traits) => {
    const method = offered.get(traits.method ?? traits.id);
    return method && isListed(app, traits, method) ? [describe(app, traits, method)] : [];
  });
}

function isListed(app: App, traits: MiniappMethodTraits, method: OfferedMethod): boolean {
  if (traits.fixedOption === undefined) return true;
  if (!app.settings.get('YOOKASSA_SBP_ENABLED')) return false;
  return method.options === null || method.options.some((option) => option.id === traits.fixedOption);
}

function describe(app: App, traits: MiniappMethodTraits, method: OfferedMethod): MiniappMethod {
  const { id } = traits;
  const isStars = id === 'stars';
  const starKopeks = Math.max(1, Math.round(app.settings.get('MESSENGER_STARS_RATE_RUB') * 100));
  const minAmountKopeks = id === 'heleket' ? Math.max(HELEKET_MIN_KOPEKS, method.minAmountKopeks) : method.minAmountKopeks;
  return {
    id,
    method: method.id,
    fixedOption: traits.fixedOption ?? null,
    name: traits.isNamed ? method.name : null,
    icon: traits.icon,
    requiresAmount: id !== 'tribute',
    currency: id === 'platega' ? app.settings.get('PLATEGA_CURRENCY') : 'RUB',
    minAmountKopeks: isStars ? starKopeks : minAmountKopeks,
    maxAmountKopeks: isStars ? null : method.maxAmountKopeks,
    amountStepKopeks: isStars ? starKopeks : null,
    iframeOrigin: id === 'mulenpay' ? originOf(app.settings.get('MULENPAY_IFRAME_EXPECTED_ORIGIN')) : null,
    options: OPTIONS_SHOWN.has(id) ? describeOptions(id, method) : [],
  };
}

/** For the others the provider's own page asks. */
const OPTIONS_SHOWN: ReadonlySet<string> = new Set(['pal24', 'platega']);
const BANK_OPTIONS: ReadonlySet<string> = new Set(['sbp', '2']);

function describeOptions(id: string, method: OfferedMethod): MiniappMethod['options'] {
  const options = [...(method.options ?? [])];
  const order = methodDefaults(id)?.options ?? [];
  options.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  return options.map((option) => ({
    id: option.id,
    icon: BANK_OPTIONS.has(option.id) ? '🏦' : '💳',
    title: option.name,
    description: option.description,
  }));
}

function originOf(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).origin : null;
}
