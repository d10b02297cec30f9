import type { SettingKey } from './catalogue.ts';
import type { SettingDefinition } from './definition.ts';

/** Units that the name of a key does not say. */
const UNITS: Partial<Record<SettingKey, string>> = {
  APP_CONFIG_CACHE_TTL: 'seconds',
  DEVICES_SELECTION_DISABLED_AMOUNT: 'devices',
  HELEKET_INVOICE_LIFETIME: 'seconds',
  INACTIVE_USER_DELETE_MONTHS: 'months',
  MAINTENANCE_CHECK_INTERVAL: 'seconds',
  MESSENGER_STARS_RATE_RUB: 'rubles for a star',
  MESSENGER_WIDGET_RADIUS: 'pixels',
  MONITORING_INTERVAL: 'minutes',
  NALOGO_QUEUE_CHECK_INTERVAL: 'seconds',
  NALOGO_QUEUE_RECEIPT_DELAY: 'seconds',
  SEVERPAY_LIFETIME: 'minutes',
  TRAFFIC_THRESHOLD_GB_PER_DAY: 'GB a day',
};

const UNIT_BY_WORD: readonly (readonly [RegExp, string])[] = [
  [/_KOPEKS$|PRICE/, 'kopeks'],
  [/PERCENT/, 'percent'],
  [/_TIMEOUT$|_SECONDS$/, 'seconds'],
  [/_MINUTES$/, 'minutes'],
  [/_HOURS$/, 'hours'],
  [/_DAYS$|_DAYS_/, 'days'],
  [/_GB$/, 'GB'],
  [/DEVICES?_LIMIT$/, 'devices'],
];

/** The unit of a number; null for counts, ids, codes and everything that is no number. */
export function unitOf(key: SettingKey, { type }: Pick<SettingDefinition, 'type'>): string | null {
  if (type !== 'int' && type !== 'float') return null;
  return UNITS[key] ?? UNIT_BY_WORD.find(([word]) => word.test(key))?.[1] ?? null;
}
