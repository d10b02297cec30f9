import { DAY_MS } from '../../../core/clock.ts';
import { outOfBounds } from '../errors.ts';
import { MAX_DAYS, MAX_DEVICES, MAX_TRAFFIC_GB } from '../web-subscriptions.ts';
import type { ActionRequest } from './types.ts';

/** The contract names no highest values; beyond these neither the database nor the panel could hold them. @throws ValidationError 422 */
export function checkBounds(request: ActionRequest): void {
  const upTo = (field: string, value: number | null, bound: number) => {
    if (value !== null && value > bound) throw outOfBounds(field, value, { le: bound });
  };
  upTo('traffic_limit_gb', request.trafficLimitGb, MAX_TRAFFIC_GB);
  upTo('traffic_used_gb', request.trafficUsedGb, MAX_TRAFFIC_GB);
  upTo('traffic_gb', request.trafficGb, MAX_TRAFFIC_GB);
  upTo('device_limit', request.deviceLimit, MAX_DEVICES);
}

/** @throws ValidationError 422 when a subscription would end more than a hundred years from now */
export function checkEnd(field: string, input: unknown, endDate: Date, now: Date): void {
  if (endDate.getTime() - now.getTime() > MAX_DAYS * DAY_MS) throw outOfBounds(field, input, { le: MAX_DAYS });
}
