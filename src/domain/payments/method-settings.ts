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

/** The buttons of PAL24: switch and name of each. */
const PAL24_BUTTONS = {
  sbp: { visible: 'PAL24_SBP_BUTTON_VISIBLE', name: 'PAL24_SBP_BUTTON_TEXT' },
  card: { visible: 'PAL24_CARD_BUTTON_VISIBLE', name: 'PAL24_CARD_BUTTON_TEXT' },
} as const;

function pal24Button(methodId: string, option: string) {
  return methodId === 'pal24' && (option === 'sbp' || option === 'card') ? PAL24_BUTTONS[option] : null;
}

/**
 * Sub-options that are available now; those of Platega come from a setting, unknown codes are ignored (spec 03 section 2.4). Of PAL24 the
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
