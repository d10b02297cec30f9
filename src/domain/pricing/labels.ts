/** Short texts for amounts of time, traffic and devices (spec 02 section 2.5). Persian uses the Russian form, as specified. */

const RUSSIAN_FORM = new Set(['ru', 'fa']);
const LABELLED_MONTHS: Record<number, number> = { 30: 1, 60: 2, 90: 3, 180: 6, 360: 12 };

/** "1 month", "3 months", "14 days" in the user's language; only 30, 60, 90, 180 and 360 days are shown in months. */
export function periodLabel(days: number, language: string): string {
  const months = LABELLED_MONTHS[days];
  if (months !== undefined) return counted(months, language, ['month', 'months'], ['месяц', 'месяца', 'месяцев']);
  return counted(days, language, ['day', 'days'], ['день', 'дня', 'дней']);
}

/** "100 GB", or "Unlimited" for 0. */
export function trafficLabel(gb: number, language: string): string {
  if (gb <= 0) return isRussianForm(language) ? 'Безлимит' : 'Unlimited';
  return isRussianForm(language) ? `${gb} ГБ` : `${gb} GB`;
}

/** Used traffic with three significant digits: "7.25 GB", "72.5 GB", "725 GB". */
export function usedTrafficLabel(gb: number, language: string): string {
  const digits = gb >= 100 ? 0 : gb >= 10 ? 1 : 2;
  return `${gb.toFixed(digits)} ${isRussianForm(language) ? 'ГБ' : 'GB'}`;
}

/** A price a day, "10 ₽/day". @param price as `formatPrice` writes it */
export function perDayLabel(price: string, language: string): string {
  return `${price}/${isRussianForm(language) ? 'день' : 'day'}`;
}

/** "1 device", "5 devices". */
export function devicesLabel(devices: number, language: string): string {
  return counted(devices, language, ['device', 'devices'], ['устройство', 'устройства', 'устройств']);
}

/** The text for a price of 0. */
export function freeLabel(language: string): string {
  return isRussianForm(language) ? 'Бесплатно' : 'Free';
}

/** `-10%` */
export function discountLabel(percent: number): string {
  return `-${percent}%`;
}

function isRussianForm(language: string): boolean {
  return RUSSIAN_FORM.has(language.toLowerCase().slice(0, 2));
}

function counted(count: number, language: string, english: [string, string], russian: [string, string, string]): string {
  if (!isRussianForm(language)) return `${count} ${count === 1 ? english[0] : english[1]}`;
  return `${count} ${russian[russianPlural(count)]}`;
}

function russianPlural(count: number): 0 | 1 | 2 {
  const lastTwo = Math.abs(count) % 100;
  const last = lastTwo % 10;
  if (lastTwo >= 11 && lastTwo <= 14) return 2;
  if (last === 1) return 0;
  return last >= 2 && last <= 4 ? 1 : 2;
}
