import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { lockState, writeState } from '../../core/service-state.ts';

export const broadcastCooldown = refusal('broadcast_cooldown', 429, 'Broadcast cooldown active. Try again in <n> seconds.');

/** Row of `service_state`. */
const KEY = 'pinned-messages:cooldown';
const WINDOW_MS = MINUTE_MS;

/**
 * What reaches every user happens once a minute, on all instances and in both areas together (spec 05 section 4). The window begins with a
 * call that succeeds: it is written in the transaction of the call, whose rollback leaves it as it was. First step of the transaction; calls at once
 * wait here for each other.
 * @throws AppError 429 with `Retry-After`
 */
export async function takeCooldown(t: App): Promise<void> {
  const { startedAt } = await lockState<{ startedAt: string }>(t.db, KEY);
  const now = t.clock.now();
  const passedMs = startedAt === undefined ? WINDOW_MS : now.getTime() - new Date(startedAt).getTime();
  // The clock of another instance may be a little ahead.
  if (Math.abs(passedMs) < WINDOW_MS) throw cooldownActive(Math.min(WINDOW_MS, WINDOW_MS - passedMs));
  await writeState(t.db, KEY, { startedAt: now.toISOString() });
}

function cooldownActive(leftMs: number) {
  const seconds = Math.ceil(leftMs / SECOND_MS);
  return broadcastCooldown({
    detail: `Broadcast cooldown active. Try again in ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  });
}
