import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refusal, rethrowUnavailable } from '../../../core/errors.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';

export const rateLimited = refusal('rate_limited', 429, 'Too many requests');

/** Requests of an administrator in a window of 60 s, by endpoint (spec 04 section 16.1). */
const LIMITS = { graph: 10, scoped: 10, 'scope-options': 30, user: 30, campaign: 30, search: 30 } as const;
const WINDOW_SECONDS = 60;

/**
 * Counts a request to the network. What cannot be counted is refused likewise.
 * @throws AppError 429 'Too many requests' with `Retry-After: 60`
 */
export async function limitNetwork(app: App, actor: AdminActor, endpoint: keyof typeof LIMITS): Promise<void> {
  try {
    await limitOrRefuse(app, `referral_network:${endpoint}:admin:${actor.userId}`, LIMITS[endpoint], WINDOW_SECONDS);
  } catch (error) {
    if (isAppError(error) && error.status === 429) throw error;
    rethrowUnavailable(error);
    throw rateLimited({ headers: { 'Retry-After': String(WINDOW_SECONDS) }, cause: error });
  }
}
