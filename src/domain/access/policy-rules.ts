import type { ValidationIssue } from '../../core/errors.ts';
import { parseRange } from './address-range.ts';

const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const MAX_ADDRESSES = 200;

/**
 * Checks the form of a policy's conditions (spec 01 section 13): `time_range` {start, end} as `HH:MM`, `ip_whitelist` a list
 * of addresses and CIDR ranges, `max_actions_per_hour` a positive integer (stored, without effect). A malformed or
 * unknown condition is refused, because it would never be met and a deny policy with it would have no effect.
 * @returns issues of a 422, empty when the conditions are valid
 */
export function conditionIssues(conditions: Readonly<Record<string, unknown>>): ValidationIssue[] {
  return Object.entries(conditions).flatMap(([name, value]) => {
    const msg = problemOf(name, value);
    return msg === null ? [] : [{ loc: ['body', 'conditions', name], msg, type: 'value_error', input: value }];
  });
}

function problemOf(name: string, value: unknown): string | null {
  switch (name) {
    case 'time_range':
      return isTimeRange(value) ? null : 'time_range needs start and end as HH:MM, and they must differ';
    case 'ip_whitelist':
      return isAddressList(value) ? null : `ip_whitelist needs 1 to ${MAX_ADDRESSES} IP addresses or CIDR ranges`;
    case 'max_actions_per_hour':
      return typeof value === 'number' && Number.isInteger(value) && value > 0
        ? null
        : 'max_actions_per_hour needs a positive whole number';
    default:
      return 'Unknown condition; known are time_range, ip_whitelist and max_actions_per_hour';
  }
}

function isTimeRange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { start, end } = value as { start?: unknown; end?: unknown };
  return typeof start === 'string' && typeof end === 'string' && CLOCK_TIME.test(start) && CLOCK_TIME.test(end) && start !== end;
}

function isAddressList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ADDRESSES) return false;
  return value.every((entry) => typeof entry === 'string' && parseRange(entry.trim()) !== null);
}
