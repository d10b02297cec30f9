import type { App } from '../../../core/app.ts';
import { type MethodDefaults, methodDefaults } from '../../payments/method-defaults.ts';
import { isMethodConfigured, methodOptions, optionName } from '../../payments/method-settings.ts';
import type { LandingMethod } from './types.ts';

/** Methods that cannot take money from somebody without an account (spec 03 section 7.2). */
const NOT_FOR_GUESTS: ReadonlySet<string> = new Set(['messenger_stars', 'tribute']);

export interface OfferedLandingMethod {
  method: LandingMethod;
  /** Null = the method shows no choice. */
  options: { id: string; name: string }[] | null;
}

/** The methods of a page that can take money at this moment, in their stored order (spec 03 section 7.2). */
export function offeredMethods(app: App, methods: readonly LandingMethod[], language: string): OfferedLandingMethod[] {
  return methods.flatMap((method) => {
    const known = usableMethod(app, method.method_id);
    if (!known) return [];
    const options = optionsOf(app, method, known).map((id) => ({ id, name: optionName(language, known.id, id) }));
    return [{ method, options: options.length > 0 ? options : null }];
  });
}

/** The provider's method behind an id, if a guest can pay by it now. */
export function usableMethod(app: App, methodId: string): MethodDefaults | null {
  const known = methodDefaults(methodId);
  return known && !NOT_FOR_GUESTS.has(known.id) && isMethodConfigured(app, known) ? known : null;
}

/** Sub-options that the provider has and the page has not switched off. */
function optionsOf(app: App, method: LandingMethod, known: MethodDefaults): string[] {
  return methodOptions(app, known).filter((option) => method.sub_options?.[option] !== false);
}

export interface PaymentChoice {
  method: LandingMethod;
  /** Null = the provider's only way, or the method's own. */
  option: string | null;
}

/**
 * Which of a page's methods is meant: its id, or its id with a sub-option behind (`yookassa_sbp`); of several the longest id wins
 * (spec 03 section 7.2).
 * @returns null when the page offers no such thing
 */
export function choosePayment(app: App, methods: readonly LandingMethod[], asked: string): PaymentChoice | null {
  const exact = methods.find((method) => method.method_id === asked);
  if (exact) {
    const known = methodDefaults(exact.method_id);
    return { method: exact, option: known?.fixedOption ?? (known && optionsOf(app, exact, known)[0]) ?? null };
  }
  const byLength = [...methods].sort((a, b) => b.method_id.length - a.method_id.length);
  for (const method of byLength) {
    if (!asked.startsWith(`${method.method_id}_`)) continue;
    const known = methodDefaults(method.method_id);
    const option = asked.slice(method.method_id.length + 1);
    if (known && optionsOf(app, method, known).includes(option)) return { method, option };
  }
  return null;
}
