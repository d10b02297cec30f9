import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { AppError, refusal, rethrowUnavailable } from '../../core/errors.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { authenticateToken } from '../../domain/access/tokens.ts';
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

/** A request with a valid API token; one that is not valid does not matter here. */
async function hasToken({ app, credentials, ip }: Context): Promise<boolean> {
  if (credentials.apiKey === null) return false;
  try {
    await authenticateToken(app, { apiKey: credentials.apiKey, bearer: null }, ip);
    return true;
  } catch (error) {
    rethrowUnavailable(error);
    if (!(error instanceof AppError)) throw error;
    return false;
  }
}

/**
 * The same for an operation that a bot also requests for its users, all of them from one address: with a valid API token in
 * `X-API-Key` the attempts are not counted.
 */
export const limitedUnlessByToken = (action: string, limit: number) =>
  publicProcedure('cabinet').use(async ({ ctx, next }) => {
    if (!(await hasToken(ctx))) await limitByAddress(ctx, action, limit);
    return next();
  });

/** An operation without a credential, whose attempts are counted. */
export const limitedProcedure = (action: string, limit: number) =>
  publicProcedure('cabinet').use(async ({ ctx, next }) => {
    await limitByAddress(ctx, action, limit);
    return next();
  });
