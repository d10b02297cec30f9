import type { App, SettingsReader } from '../../core/app.ts';
import { definitionOf, isSettingKey, type SettingKey, settingKeys } from './catalogue/catalogue.ts';
import { type CategoryKey, categories } from './catalogue/categories.ts';
import { describeHint } from './describe-hint.ts';
import { listChoices } from './list-choices.ts';
import { maskedValue } from './mask-value.ts';
import { findSettingSince } from './repo.ts';
import { displayName, isVisible, settingNotFound, typeText } from './rules.ts';
import { storeOf } from './settings-store.ts';
import type { SettingCategory, SettingView } from './types.ts';

const visibleKeys: readonly SettingKey[] = settingKeys.filter((key) => isVisible(definitionOf(key)));

/** Code-point order, which does not depend on the locale of the machine. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Label of a category; two contain the display name of their provider, which is a setting. */
export function categoryLabel(key: CategoryKey, settings: SettingsReader): string {
  return categories[key].label.replace(/\{([A-Z0-9_]+)\}/g, (_whole, name: string) =>
    isSettingKey(name) ? String(settings.get(name) ?? '') : '',
  );
}

/** Categories with a visible setting, by label (spec 06 section 6.1). */
export function listCategories(app: App): SettingCategory[] {
  const items = new Map<CategoryKey, number>();
  for (const key of visibleKeys) {
    const { category } = definitionOf(key);
    items.set(category, (items.get(category) ?? 0) + 1);
  }
  return [...items]
    .map(([key, count]) => ({
      key,
      label: categoryLabel(key, app.settings),
      description: categories[key].description,
      items: count,
    }))
    .sort((a, b) => byText(a.label.toLowerCase(), b.label.toLowerCase()) || byText(a.key, b.key));
}

/** Settings of one category, or of all; by category label, keys alphabetical inside. An unknown category is an empty list. */
export function listSettings(app: App, categoryKey?: string | null): SettingView[] {
  const order = new Map(listCategories(app).map((category, index) => [category.key, index]));
  const place = (key: SettingKey): number => order.get(definitionOf(key).category) ?? 0;
  return visibleKeys
    .filter((key) => categoryKey === undefined || categoryKey === null || definitionOf(key).category === categoryKey)
    .toSorted((a, b) => place(a) - place(b) || byText(a, b))
    .map((key) => viewSetting(app, key));
}

/** @throws AppError 404 for an unknown or excluded key */
export function getSetting(app: App, key: string): SettingView {
  if (!isSettingKey(key) || !isVisible(definitionOf(key))) throw settingNotFound();
  return viewSetting(app, key);
}

/** One setting for answers, secrets masked. */
export function viewSetting(app: App, key: SettingKey): SettingView {
  const definition = definitionOf(key);
  const state = storeOf(app).describe(key);
  const label = categoryLabel(definition.category, app.settings);
  return {
    key,
    name: displayName(key),
    category: { key: definition.category, label },
    type: typeText(definition),
    isOptional: definition.optional === true,
    current: maskedValue(definition, state.current),
    original: maskedValue(definition, state.original),
    hasOverride: state.hasOverride,
    readOnly: definition.readOnly === true,
    choices: listChoices(key, app.settings),
    hint: describeHint(key, label, state.original),
  };
}

/** Since when the stored override of a setting has its value; null = no override is in effect. */
export async function findOverrideSince(app: App, key: SettingKey): Promise<Date | null> {
  return storeOf(app).describe(key).hasOverride ? findSettingSince(app.db, key) : null;
}
