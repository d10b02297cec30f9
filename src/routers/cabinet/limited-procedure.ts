import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import type { Context } from '../context.ts';
import { publicProcedure } from '../trpc.ts';

const clientIpUnknown = refusal('client_ip_unknown', 400, 'Unable to determine client IP');

/**
 * Counts an attempt at an operation by client address, in windows of a minute (spec 01 section 4.4).
 * @throws AppError 429 'Too many requests' | 400 'Unable to determine client IP'
 */
export async function limitByAddress(ctx: Context, action: string, limit: number): Promise<void> {
  if (ctx.ip === null) throw clientIpUnknown();
  await limitOrRefuse(ctx.app, `rate_limit:ip:${ctx.ip}:${action}`, limit, MINUTE_MS / SECOND_MS);
}

/** An operation without a credential, whose attempts are counted. */
export const limitedProcedure = (action: string, limit: number) =>
  publicProcedure('cabinet').use(async ({ ctx, next }) => {
    await limitByAddress(ctx, action, limit);
    return next();
  });
