import type { App } from '../../core/app.ts';
import { askBanSystem } from './ask-ban-system.ts';
import type { BanSetting } from './types.ts';

/** The commands to the ban system; each records for the audit log what it changed (spec 06 section 13). */

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
