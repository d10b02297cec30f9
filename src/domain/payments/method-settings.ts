import type { App } from '../../core/app.ts';
import { type TextKey, text } from '../messaging/texts.ts';
import { type MethodDefaults, methodDefaults } from './method-defaults.ts';
import type { PaymentProvider } from './ports.ts';

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

/** Sub-options that are available now; those of Platega come from a setting, unknown codes are ignored (spec 03 section 2.4). */
export function methodOptions(app: App, method: MethodDefaults): readonly string[] {
  if (method.id !== 'platega') return method.options;
  const active = app.settings
    .get('PLATEGA_ACTIVE_METHODS')
    .split(',')
    .map((code) => code.trim());
  const known = method.options.filter((code) => active.includes(code));
  return known.length > 0 ? known : ['2'];
}

/** Name of a sub-option in a language. */
export function optionName(language: string, methodId: string, option: string): string {
  const key = methodId === 'platega' ? `payments.option_platega_${option}` : `payments.option_${option}_name`;
  return text(language, key as TextKey);
}
