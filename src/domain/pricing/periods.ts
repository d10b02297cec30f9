import { DAY_MS } from '../../core/clock.ts';

/** The shortest time an add-on is charged for, and the length of a pricing month, in days. */
export const MONTH_DAYS = 30;
/** Minimum price of a prorated purchase, kopeks. */
export const MIN_ADDON_PRICE_KOPEKS = 100;

/**
 * Months charged for a period of `days`: days / 30 rounded with ties to even, at least 1 (45 -> 2, 75 -> 2, 105 -> 4).
 * Spec 02 section 2.1.
 */
export function monthsOf(days: number): number {
  const whole = Math.floor(days / MONTH_DAYS);
  const twiceRest = 2 * (days - whole * MONTH_DAYS);
  const roundsUp = twiceRest > MONTH_DAYS || (twiceRest === MONTH_DAYS && whole % 2 !== 0);
  return Math.max(1, whole + (roundsUp ? 1 : 0));
}

/** Months as displayed: whole months, at least 1. Never used for a price. */
export function displayMonthsOf(days: number): number {
  return Math.max(1, Math.floor(days / MONTH_DAYS));
}

/** Whole days (UTC timestamps, 24 h each) from `now` to `endDate`, at least 0. */
export function wholeDaysLeft(endDate: Date, now: Date): number {
  return Math.max(0, Math.floor((endDate.getTime() - now.getTime()) / DAY_MS));
}

/**
 * Price of an item sold per 30 days for the rest of a paid period; never less than one full month, and at least
 * 100 kopeks unless it is free.
 * @param monthlyKopeks kopeks per 30 days
 * @returns kopeks, and the days charged for (30 or more). Spec 02 section 2.1.
 */
export function prorate(monthlyKopeks: number, endDate: Date, now: Date): { priceKopeks: number; days: number } {
  const days = Math.max(MONTH_DAYS, wholeDaysLeft(endDate, now));
  if (monthlyKopeks <= 0) return { priceKopeks: 0, days };
  return { priceKopeks: Math.max(MIN_ADDON_PRICE_KOPEKS, floorDivide(monthlyKopeks * days, MONTH_DAYS)), days };
}

/** Integer division toward minus infinity of two safe integers. */
export function floorDivide(dividend: number, divisor: number): number {
  const remainder = dividend % divisor;
  const isBelow = remainder !== 0 && remainder < 0 !== divisor < 0;
  return (dividend - remainder) / divisor - (isBelow ? 1 : 0);
}

/** The key of a days-to-value map nearest to `days`; on a tie the shorter one; null for an empty map. */
export function nearestPeriod(byDays: Record<number, unknown>, days: number): number | null {
  let best: number | null = null;
  for (const period of periodKeys(byDays)) {
    if (best === null || Math.abs(period - days) < Math.abs(best - days)) best = period;
  }
  return best;
}

/** The keys of a days-to-value map, ascending. */
export function periodKeys(byDays: Record<number, unknown>): number[] {
  return Object.keys(byDays)
    .map(Number)
    .filter((days) => Number.isInteger(days) && days > 0)
    .sort((a, b) => a - b);
}

// Short texts for amounts of time, traffic and devices (spec 02 section 2.5). Persian uses the Russian form, as specified.

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
