/** Values of settings: renamed where the setting has choices or is a template (spec 09 sections 3 and 4). */
import type { Vocabulary } from './vocabulary.ts';

type Direction = 'inward' | 'outward';
type Change = (value: unknown) => unknown;

/** Fields of a setting that hold a value of it. */
const VALUE_FIELDS = ['value', 'current', 'original', 'default'];

/** @returns the change of a setting's values by its key, which is in our words; undefined for one whose values stay */
export function settingValues({ forms, elsewhere }: Vocabulary, direction: Direction): (key: string) => Change | undefined {
  const changes = new Map<string, Change>();
  const add = (key: string, names: readonly string[], apply: (pairs: ReadonlyMap<string, string>) => Change): void => {
    const pairs = names.map((name) => [name, forms.rename(name)] as const).filter(([from, to]) => from !== to);
    if (pairs.length === 0) return;
    changes.set(key, apply(new Map(direction === 'outward' ? pairs : pairs.map(([ours, client]) => [client, ours] as const))));
  };
  for (const [key, choices] of elsewhere.choices) {
    add(key, choices, (names) => (value) => (typeof value === 'string' ? (names.get(value) ?? value) : value));
  }
  for (const [key, placeholders] of elsewhere.templates) {
    add(key, placeholders, (names) => (value) => (typeof value === 'string' ? withPlaceholders(value, names) : value));
  }
  return (key) => changes.get(key);
}

const withPlaceholders = (template: string, names: ReadonlyMap<string, string>): string =>
  template.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const form = names.get(name);
    return form === undefined ? whole : `{${form}}`;
  });

/** Changes the values in the answer about a setting. */
export function changeSetting(change: Change, setting: Record<string, unknown>): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...setting };
  for (const field of VALUE_FIELDS) if (Object.hasOwn(setting, field)) changed[field] = change(setting[field]);
  if (Array.isArray(setting.choices)) {
    changed.choices = setting.choices.map((choice: unknown) =>
      typeof choice === 'object' && choice !== null && 'value' in choice ? { ...choice, value: change(choice.value) } : choice,
    );
  }
  return changed;
}
