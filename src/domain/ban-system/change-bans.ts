import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { type BanSystemPort, isBanSystemError } from './ports.ts';
import type { BanSetting, BanStats } from './types.ts';

/** The commands to the ban system; each records for the audit log what it changed. */

/** Bans a user for some minutes. @throws AppError 503 | 502 */
export async function banUser(
  app: App,
  request: { username: string; minutes: number; reason?: string | null | undefined },
): Promise<void> {
  const { username, minutes, reason = null } = request;
  await askBanSystem(app, (banSystem) => banSystem.ban({ username, minutes, reason }));
  app.audit?.record({ resourceId: username, after: { banned: true, minutes, reason } });
}

/** Ends a ban. @throws AppError 503 | 502 */
export async function unbanUser(app: App, userId: string): Promise<void> {
  await askBanSystem(app, (banSystem) => banSystem.unban(userId));
  app.audit?.record({ resourceId: userId, after: { banned: false } });
}

/** Puts a user on the list of those who are never banned, or takes the user off it. @throws AppError 503 | 502 */
export async function changeWhitelist(app: App, username: string, isListed: boolean): Promise<void> {
  await askBanSystem(app, (banSystem) =>
    isListed ? banSystem.addToWhitelist(username) : banSystem.removeFromWhitelist(username),
  );
  app.audit?.record({ resourceId: username, after: { whitelisted: isListed } });
}

/** @param value as text; the ban system reads it by the type of the setting @throws AppError 503 | 502 */
export async function changeBanSetting(app: App, key: string, value: string): Promise<BanSetting> {
  return recorded(app, await askBanSystem(app, (banSystem) => banSystem.changeSetting(key, value)));
}

/** Switches a setting that is a boolean. @throws AppError 503 | 502 */
export async function toggleBanSetting(app: App, key: string): Promise<BanSetting> {
  return recorded(app, await askBanSystem(app, (banSystem) => banSystem.toggleSetting(key)));
}

function recorded(app: App, setting: BanSetting): BanSetting {
  const { key, value } = setting;
  // Beside its key, so that the audit log does not keep the value of one that names a secret (spec 06 section 17, hazard 1).
  app.audit?.record({ resourceId: key, after: { key, value } });
  return setting;
}

export const banSystemDisabled = refusal('ban_system_disabled', 503, 'Ban System integration is disabled');
const banSystemNotConfigured = refusal('ban_system_not_configured', 503, 'Ban System is not configured');
export const BAN_SYSTEM_REFUSALS = [banSystemDisabled, banSystemNotConfigured];
export const banSystemFailed = refusal('ban_system_failed', 502, 'Ban System API error: API error <n>');

/**
 * Calls the ban system, once: nothing is repeated and nothing is stored.
 * @throws AppError 503 while it is switched off or not configured | 502 when it does not answer or answers an error
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
