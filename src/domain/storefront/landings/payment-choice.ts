import type { App } from '../../../core/app.ts';
import { type MethodDefaults, methodDefaults } from '../../payments/method-defaults.ts';
import { isMethodConfigured, methodOptions, optionName } from '../../payments/method-settings.ts';
import type { LandingMethod } from './types.ts';

/** Methods that need an account (spec 03 section 7.2). */
const NOT_FOR_GUESTS: ReadonlySet<string> = new Set(['messenger_stars', 'tribute']);

/** A method as the page shows it; `subOptions` null = no choice is shown. */
export type OfferedLandingMethod = Omit<LandingMethod, 'subOptions'> & { subOptions: { id: string; name: string }[] | null };

/** The methods of a page that can be used at this moment, in their stored order (spec 03 section 7.2). */
export function offeredMethods(app: App, methods: readonly LandingMethod[], language: string): OfferedLandingMethod[] {
  return methods.flatMap((method) => {
    const known = usableMethod(app, method.methodId);
    if (!known) return [];
    const options = optionsOf(app, method, known).map((id) => ({ id, name: optionName(app, language, known.id, id) }));
    return [{ ...method, subOptions: options.length > 0 ? options : null }];
  });
}

/** The provider's method with this id, if a guest can pay by it now. */
export function usableMethod(app: App, methodId: string): MethodDefaults | null {
  const known = methodDefaults(methodId);
  return known && !NOT_FOR_GUESTS.has(known.id) && isMethodConfigured(app, known) ? known : null;
}

/** Sub-options that the provider has and the page has not switched off. */
function optionsOf(app: App, method: LandingMethod, known: MethodDefaults): string[] {
  return methodOptions(app, known).filter((option) => method.subOptions?.[option] !== false);
}

export interface PaymentChoice {
  method: LandingMethod;
  /** Null = the provider has one way only, or the method names it itself. */
  option: string | null;
}

/**
 * Finds a page's method by its id, or by its id followed by a sub-option (`yookassa_sbp`); of several the longest id is taken
 * (spec 03 section 7.2).
 * @returns null when the page does not offer it
 */
export function choosePayment(app: App, methods: readonly LandingMethod[], asked: string): PaymentChoice | null {
  const exact = methods.find((method) => method.methodId === asked);
  if (exact) {
    const known = methodDefaults(exact.methodId);
    return { method: exact, option: known?.fixedOption ?? (known && optionsOf(app, exact, known)[0]) ?? null };
  }
  const byLength = [...methods].sort((a, b) => b.methodId.length - a.methodId.length);
  for (const method of byLength) {
    if (!asked.startsWith(`${method.methodId}_`)) continue;
    const known = methodDefaults(method.methodId);
    const option = asked.slice(method.methodId.length + 1);
    if (known && optionsOf(app, method, known).includes(option)) return { method, option };
  }
  return null;
}
