import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { type BanSystemPort, isBanSystemError } from './ports.ts';
import type { BanStats } from './types.ts';

export const banSystemDisabled = refusal('ban_system_disabled', 503, 'Ban System integration is disabled');
const banSystemNotConfigured = refusal('ban_system_not_configured', 503, 'Ban System is not configured');
export const BAN_SYSTEM_REFUSALS = [banSystemDisabled, banSystemNotConfigured];
export const banSystemFailed = refusal('ban_system_failed', 502, 'Ban System API error: API error <n>');

/**
 * Calls the ban system, once: nothing is repeated and nothing is stored (spec 06 section 13).
 * @throws AppError 503 while it is switched off or not configured | 502 when it gives no answer or an error
 */
export async function askBanSystem<T>(app: App, ask: (banSystem: BanSystemPort) => Promise<T>): Promise<T> {
  const { banSystem } = app.ports;
  const { isEnabled, isConfigured } = banSystem.state();
  if (!isEnabled) throw banSystemDisabled();
  if (!isConfigured) throw banSystemNotConfigured();
  try {
    return await ask(banSystem);
  } catch (error) {
    if (!isBanSystemError(error)) throw error;
    throw banSystemFailed({ detail: `Ban System API error: ${error.message}`, cause: error });
  }
}

/** The statistics, with the seconds since it began to count; null when it does not say. @throws AppError 503 | 502 */
export async function readBanStats(app: App): Promise<BanStats & { uptimeSeconds: number | null }> {
  const stats = await askBanSystem(app, (banSystem) => banSystem.readStats());
  const startedAt = stats.intakeStartedAt?.getTime();
  const now = app.clock.now().getTime();
  return { ...stats, uptimeSeconds: startedAt === undefined ? null : Math.max(0, Math.floor((now - startedAt) / SECOND_MS)) };
}
