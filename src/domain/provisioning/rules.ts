/** Pure rules of what the service sends to the VPN panel about a user and a subscription (spec 02 section 4, spec 06 section 9). */

import { addMs, MINUTE_MS } from '../../core/clock.ts';
import type { Rows } from '../../core/db/columns.ts';
import { refusal } from '../../core/errors.ts';
import type { PanelUser, TrafficResetStrategy } from './ports.ts';

export const squadNotFound = refusal('squad_not_found', 404, 'Squad not found');

/** What of a user the panel's name and description may show. */
export interface PanelNamedUser extends Pick<Rows['User'], 'id' | 'username' | 'firstName' | 'lastName' | 'email'> {
  messengerId: number | bigint | null;
}

const USERNAME_MAX = 36;
/** The panel refuses shorter names. */
const USERNAME_MIN = 3;
const EMAIL_PREFIX_LENGTH = 10;
const BYTES_PER_GB = 1024 ** 3;
/** Statuses of a subscription whose term runs. */
const LIVE: readonly string[] = ['active', 'trial', 'limited'];
const RESET_STRATEGIES: readonly TrafficResetStrategy[] = ['NO_RESET', 'DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING'];

/** Text that identifies a user: messenger id, else `email_{first 10 of the local part}_{id}`, else `id_{id}`. */
function panelIdentifier(user: PanelNamedUser): string {
  if (user.messengerId !== null) return String(user.messengerId);
  const local = user.email?.split('@')[0]?.slice(0, EMAIL_PREFIX_LENGTH);
  return local ? `email_${local}_${user.id}` : `id_${user.id}`;
}

/**
 * Panel username from `VPNPANEL_USER_USERNAME_TEMPLATE`: characters outside `[0-9A-Za-z_-]` become `_`, runs of `_` are joined,
 * at most 36 characters. For an unusable template it is `user_{identifier}`.
 */
export function panelUsername(template: string, user: PanelNamedUser): string {
  const name = cleanUsername(fillTemplate(template, user));
  const isUsable = name.length >= USERNAME_MIN && /[0-9A-Za-z]/.test(name);
  return isUsable ? name : cleanUsername(`user_${panelIdentifier(user)}`);
}

function cleanUsername(text: string): string {
  return text
    .replace(/[^0-9A-Za-z_-]/g, '_')
    .replace(/_{2,}/g, '_')
    .slice(0, USERNAME_MAX);
}

/** Panel description from `VPNPANEL_USER_DESCRIPTION_TEMPLATE`: a bare `@` and `()` are removed, blanks collapsed. */
export function panelDescription(template: string, user: PanelNamedUser): string {
  return fillTemplate(template, user)
    .replace(/@{2,}/g, '@')
    .replace(/(^|[\s(])@(?![\p{L}\p{N}_])/gu, '$1')
    .replace(/\(\s*\)/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Unknown placeholders become empty: a template from the settings must never fail a sale. */
function fillTemplate(template: string, user: PanelNamedUser): string {
  const identifier = panelIdentifier(user);
  const handle = user.username?.replace(/^@+/, '') ?? '';
  const values: Record<string, string> = {
    full_name: [user.firstName, user.lastName].filter(Boolean).join(' ') || handle,
    username: handle === '' ? '' : `@${handle}`,
    username_clean: handle,
    messenger_id: identifier,
    identifier,
    email: user.email ?? '',
    user_id: String(user.id),
  };
  return template.replace(/\{(\w+)\}/g, (_placeholder, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : '',
  );
}

/** The panel's own rule for an address; with any other it refuses the whole call, and with it the change of access. */
const PANEL_EMAIL = /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;

/** Whether the panel accepts this address. Mail can also be sent to addresses of other forms. */
export function isPanelEmail(email: string): boolean {
  return PANEL_EMAIL.test(email);
}

/**
 * The address to send to the panel: confirmed, since anyone can enter an address of another person, and of a form that the
 * panel accepts. A user with an address of another form is identified there by username alone.
 */
export function panelEmailOf(user: { email: string | null; emailVerified: boolean }): string | null {
  return user.email !== null && user.emailVerified && isPanelEmail(user.email) ? user.email : null;
}

/** @returns the device limit to send, or null when the field is left out (spec 02 section 4.4) */
export function deviceLimitFor(
  subscription: { deviceLimit: number },
  settings: { devicesSelectionEnabled: boolean; devicesSelectionDisabledAmount: number | null },
): number | null {
  const fixed = settings.devicesSelectionDisabledAmount ?? 0;
  if (!settings.devicesSelectionEnabled && fixed > 0) return fixed;
  return subscription.deviceLimit > 0 ? subscription.deviceLimit : null;
}

/**
 * Status and end to send in an update (08 P1, spec 02 section 4.3): a live subscription is `ACTIVE` to its end; any other is `DISABLED`
 * with the earliest end that the panel accepts, one minute from now, so that access does not return when the panel user is enabled.
 *
 * The spec names active and trial. A limited one with time left counts as live as well: its traffic is used up for now, but the term
 * is paid for, and the panel lifts the limit at its own reset, which it does not do for a disabled user.
 */
export function panelStateFor(
  subscription: { status: string; endDate: Date },
  now: Date,
): { status: 'ACTIVE' | 'DISABLED'; expireAt: Date } {
  const isLive = LIVE.includes(subscription.status) && subscription.endDate > now;
  if (isLive) return { status: 'ACTIVE', expireAt: subscription.endDate };
  return { status: 'DISABLED', expireAt: addMs(now, MINUTE_MS) };
}

/**
 * Whether a panel user has access, or gets it with its next traffic reset. That of a blocked or deleted account must not (08 P15).
 */
export function mayHaveAccess({ status }: Pick<PanelUser, 'status'>): boolean {
  return status === 'ACTIVE' || status === 'LIMITED';
}

/** Bytes for the panel; 0 GB = unlimited = 0 bytes. */
export function trafficLimitBytesFor(trafficLimitGb: number): number {
  return Math.max(0, Math.trunc(trafficLimitGb)) * BYTES_PER_GB;
}

/** The tariff's reset mode, else `DEFAULT_TRAFFIC_RESET_STRATEGY`; an unknown value is `NO_RESET` (spec 02 section 4.2). */
export function resetStrategyFor(tariffMode: string | null | undefined, defaultStrategy: string): TrafficResetStrategy {
  const wanted = (tariffMode || defaultStrategy).trim().toUpperCase();
  return RESET_STRATEGIES.find((strategy) => strategy === wanted) ?? 'NO_RESET';
}

/**
 * The strategy to send for an existing panel user; null leaves the panel's: where the tariff names one that this service does not know,
 * and `MONTH_ROLLING` where it names none, since the default cannot express it (08 P7).
 */
export function changedStrategyFor(
  tariffMode: string | null | undefined,
  defaultStrategy: string,
  present: TrafficResetStrategy,
): TrafficResetStrategy | null {
  const named = tariffMode?.trim().toUpperCase() || null;
  if (named === null) return present === 'MONTH_ROLLING' ? null : resetStrategyFor(null, defaultStrategy);
  return RESET_STRATEGIES.find((strategy) => strategy === named) ?? null;
}

/** Tag of a trial or paid subscription; null = leave it out. The panel accepts `A-Z0-9_`, at most 16 characters. */
export function panelTagFor(
  subscription: { isTrial: boolean },
  settings: { trialUserTag: string | null; paidSubscriptionUserTag: string | null },
): string | null {
  const tag = (subscription.isTrial ? settings.trialUserTag : settings.paidSubscriptionUserTag)?.trim().toUpperCase() ?? '';
  return /^[A-Z0-9_]{1,16}$/.test(tag) ? tag : null;
}

/**
 * Whether a stored link to a panel user may stay. Only a definite absence or a panel user of another messenger id unlinks; when the
 * panel gave no answer, an error is thrown before this rule is applied (spec 06 section 9).
 */
export function isLinkageValid(found: Pick<PanelUser, 'messengerId'> | null, messengerId: number | bigint | null): boolean {
  if (found === null) return false;
  if (messengerId === null || found.messengerId === null) return true;
  return String(found.messengerId) === String(messengerId);
}
