/** How a number changed from one period to the next (spec 04 section 5, item 2). */
export interface PeriodChange {
  absolute: number;
  /** With two decimals; 100 where something came of nothing. */
  percent: number;
  trend: 'up' | 'down' | 'stable';
}

export function periodChange(current: number, previous: number): PeriodChange {
  const absolute = current - previous;
  const fromNothing = current > 0 ? 100 : 0;
  return {
    absolute,
    percent: previous === 0 ? fromNothing : Math.round((absolute / previous) * 10_000) / 100,
    trend: absolute > 0 ? 'up' : absolute < 0 ? 'down' : 'stable',
  };
}
