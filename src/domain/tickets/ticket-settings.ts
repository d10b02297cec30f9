import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { mergeState, readState } from '../../core/service-state.ts';
import { putSetting } from '../settings/change-setting.ts';
import { refreshSetting } from '../settings/settings-store.ts';
import type { SettingKey } from '../settings/types.ts';
import type { TicketSettings } from './types.ts';

export const badSupportMode = refusal('bad_support_mode', 400, 'Invalid support_system_mode. Must be: tickets, contact, or both');

/** The toggles that are not among the published settings. */
const TOGGLES_KEY = 'tickets:cabinet-notifications';
const MODES = ['tickets', 'contact', 'both'];

export interface TicketToggles {
  /** Rows and socket messages for the owner of a ticket, `cabinet_user_notifications_enabled`. */
  user: boolean;
  /** The same for administrators, `cabinet_admin_notifications_enabled`. */
  admin: boolean;
  /** Notices to the administrators' chat, `admin_ticket_notifications_enabled`; `ADMIN_NOTIFICATIONS_ENABLED` switches them too. */
  adminChat: boolean;
  /** Messages and mails to the owner, `user_ticket_notifications_enabled`; unset = `ENABLE_NOTIFICATIONS`. */
  ownerMessages: boolean;
}

/** Read with each message, so that a change has effect at once on every instance. */
export async function readTicketToggles({ db, settings }: Pick<App, 'db' | 'settings'>): Promise<TicketToggles> {
  const stored = await readState<Partial<TicketToggles>>(db, TOGGLES_KEY);
  return {
    user: stored?.user ?? true,
    admin: stored?.admin ?? true,
    adminChat: stored?.adminChat ?? true,
    ownerMessages: stored?.ownerMessages ?? settings.get('ENABLE_NOTIFICATIONS'),
  };
}

/** Tickets are on unless the support mode is `contact`. */
export function areTicketsEnabled(app: App): boolean {
  return app.settings.get('SUPPORT_SYSTEM_MODE') !== 'contact';
}

export async function readTicketSettings(app: App): Promise<TicketSettings> {
  const toggles = await readTicketToggles(app);
  const { settings } = app;
  return {
    slaEnabled: settings.get('SUPPORT_TICKET_SLA_ENABLED'),
    slaMinutes: settings.get('SUPPORT_TICKET_SLA_MINUTES'),
    slaCheckIntervalSeconds: settings.get('SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS'),
    slaReminderCooldownMinutes: settings.get('SUPPORT_TICKET_SLA_REMINDER_COOLDOWN_MINUTES'),
    supportSystemMode: settings.get('SUPPORT_SYSTEM_MODE'),
    cabinetUserNotificationsEnabled: toggles.user,
    cabinetAdminNotificationsEnabled: toggles.admin,
  };
}

/**
 * Changes the given fields, all or none; they have effect on every instance with the commit (spec 05 section 1.4 and section 16, invariant 9).
 * @throws AppError 400 unknown support mode
 */
export async function changeTicketSettings(
  app: App,
  actor: AdminActor,
  changes: Changes<TicketSettings>,
): Promise<TicketSettings> {
  const mode = changes.supportSystemMode?.trim().toLowerCase() ?? null;
  if (mode !== null && !MODES.includes(mode)) throw badSupportMode();
  const values: [SettingKey, unknown][] = [
    ['SUPPORT_TICKET_SLA_ENABLED', changes.slaEnabled],
    ['SUPPORT_TICKET_SLA_MINUTES', changes.slaMinutes],
    ['SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS', changes.slaCheckIntervalSeconds],
    ['SUPPORT_TICKET_SLA_REMINDER_COOLDOWN_MINUTES', changes.slaReminderCooldownMinutes],
    ['SUPPORT_SYSTEM_MODE', mode],
  ];
  const given = values.filter(([, value]) => value !== null && value !== undefined);
  const before = await readTicketSettings(app);
  await inTransaction(app, async (t) => {
    for (const [key, value] of given) await putSetting(t, actor, key, value);
    const { cabinetUserNotificationsEnabled: user, cabinetAdminNotificationsEnabled: admin } = changes;
    const toggles = { ...(typeof user === 'boolean' ? { user } : {}), ...(typeof admin === 'boolean' ? { admin } : {}) };
    if (Object.keys(toggles).length > 0) await mergeState(t.db, TOGGLES_KEY, toggles);
  });
  for (const [key] of given) await refreshSetting(app, key);
  const after = await readTicketSettings(app);
  app.audit?.record({ before: auditFieldsOf(before), after: auditFieldsOf(after) });
  return after;
}

/** The names under which audit rows have always held the two toggles; rows are read over the interface. */
function auditFieldsOf(settings: TicketSettings): object {
  const { cabinetUserNotificationsEnabled: user, cabinetAdminNotificationsEnabled: admin, ...fields } = settings;
  return { ...fields, userNotificationsEnabled: user, adminNotificationsEnabled: admin };
}
