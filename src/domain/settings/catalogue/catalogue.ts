import { accessSettings } from './access.ts';
import { contactSettings } from './contact.ts';
import type { SettingDefinition } from './definition.ts';
import { growthSettings } from './growth.ts';
import { interfaceSettings } from './interface.ts';
import { operationsSettings } from './operations.ts';
import { paymentGatewaysSettings } from './payment-gateways.ts';
import { paymentsSettings } from './payments.ts';
import { subscriptionsSettings } from './subscriptions.ts';

/** Every setting by key; one object, so that the type of each value is derived from its entry. */
const catalogue = {
  ...accessSettings,
  ...subscriptionsSettings,
  ...paymentsSettings,
  ...paymentGatewaysSettings,
  ...growthSettings,
  ...contactSettings,
  ...interfaceSettings,
  ...operationsSettings,
};

export type Catalogue = typeof catalogue;
export type SettingKey = keyof Catalogue;

const definitions: ReadonlyMap<string, SettingDefinition> = new Map(Object.entries(catalogue));

/** All keys, alphabetical: the order in which lists show them (spec 06 section 6.1). */
export const settingKeys: readonly SettingKey[] = Object.keys(catalogue).filter(isSettingKey).sort();

/** Whether the catalogue has this key; excluded ones count, too. */
export function isSettingKey(key: string): key is SettingKey {
  return definitions.has(key);
}

/** Definition of a key as plain data. */
export function definitionOf(key: SettingKey): SettingDefinition {
  return catalogue[key];
}

/** Keys whose values must never be shown or logged. */
export const secretKeys: readonly SettingKey[] = settingKeys.filter((key) => definitionOf(key).secret);
