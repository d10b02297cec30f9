import ipaddr from 'ipaddr.js';
import { isInRange } from './address-range.ts';
import { SUPERADMIN_LEVEL, TOP_LEVEL } from './permission-catalogue.ts';

/** What a user may do by the roles in effect: assignment active and not expired, role active. */
export interface EffectiveAccess {
  roleIds: number[];
  /** Role names, highest level first. */
  roles: string[];
  permissions: string[];
  /** Highest level, 0 without roles. */
  level: number;
}

/** @param roles roles in effect, highest level first */
export function accessOf(roles: readonly { id: number; name: string; level: number; permissions: string[] }[]): EffectiveAccess {
  return {
    roleIds: roles.map((role) => role.id),
    roles: roles.map((role) => role.name),
    permissions: [...new Set(roles.flatMap((role) => role.permissions))],
    level: roles[0]?.level ?? 0,
  };
}

export const NO_ACCESS: EffectiveAccess = { roleIds: [], roles: [], permissions: [], level: 0 };

export interface AccessPolicy {
  name: string;
  /** Null = for everybody. */
  roleId: number | null;
  effect: string;
  /** Pattern of sections. */
  resource: string;
  /** Patterns of actions. */
  actions: readonly string[];
  conditions: Readonly<Record<string, unknown>>;
}

export interface ConfigAdmins {
  messengerIds: ReadonlySet<number>;
  /** Lower case. */
  emails: ReadonlySet<string>;
}

/** Reads ADMIN_IDS and ADMIN_EMAILS; one item of ADMIN_IDS that is not an integer makes that whole list empty (spec 01 section 4.5). */
export function parseConfigAdmins(adminIds: string, adminEmails: string): ConfigAdmins {
  const ids = adminIds.split(',').map((item) => item.trim());
  const given = ids.filter((item) => item !== '');
  const areNumbers = given.every((item) => /^-?\d{1,16}$/.test(item));
  const emails = adminEmails.split(',').map((item) => item.trim().toLowerCase());
  return {
    messengerIds: new Set(areNumbers ? given.map(Number) : []),
    emails: new Set(emails.filter((item) => item !== '')),
  };
}

/** Config admins have every permission and no policy applies to them. An e-mail counts only when it is verified (spec 01 H1). */
export function isConfigAdmin(
  admins: ConfigAdmins,
  user: { messengerId: number | null; email: string | null; emailVerified: boolean },
): boolean {
  if (user.messengerId !== null && admins.messengerIds.has(user.messengerId)) return true;
  return user.emailVerified && user.email !== null && admins.emails.has(user.email.toLowerCase());
}

/** The level that "at or above" compares with (spec 01 section 12). */
export function adminLevel(access: EffectiveAccess, isConfigAdminUser: boolean): number {
  return isConfigAdminUser || access.level >= SUPERADMIN_LEVEL ? TOP_LEVEL : access.level;
}

/**
 * Decides one permission for a user who is not a config admin (spec 01 section 4.5, steps 1 to 4).
 * @param permission `section:action`
 * @param policies all active policies by descending priority; those of other roles are skipped here
 * @param ip client address, null = unknown
 * @returns null when allowed, else the reason
 */
export function denialReason(
  permission: string,
  access: EffectiveAccess,
  policies: readonly AccessPolicy[],
  ip: string | null,
  now: Date,
): string | null {
  if (access.permissions.length === 0) return 'No active roles assigned';
  if (!access.permissions.some((pattern) => matchesPattern(pattern, permission))) return 'Permission not granted by any role';
  const [section = '', action = ''] = permission.split(':');
  for (const policy of policies) {
    if (policy.effect !== 'deny') continue;
    if (policy.roleId !== null && !access.roleIds.includes(policy.roleId)) continue;
    if (!matchesPattern(policy.resource, section)) continue;
    if (!policy.actions.some((pattern) => matchesPattern(pattern, action))) continue;
    if (areConditionsMet(policy.conditions, ip, now)) return `Denied by policy: ${policy.name}`;
  }
  return null;
}

/** Shell-style match of the whole text, case-sensitive: `*`, `?`, `[abc]`, `[!abc]`. */
export function matchesPattern(pattern: string, text: string): boolean {
  const known = compiled.get(pattern);
  if (known) return known.test(text);
  const expression = compilePattern(pattern);
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(pattern, expression);
  return expression.test(text);
}

const compiled = new Map<string, RegExp>();
const MAX_COMPILED = 1_000;

function compilePattern(pattern: string): RegExp {
  const body = pattern.replace(/\*+|\?|\[!?\]?[^\]]*\]|[\s\S]/gu, (part) => {
    if (part.startsWith('*')) return '[\\s\\S]*';
    if (part === '?') return '[\\s\\S]';
    if (part.length > 2 && part.startsWith('[')) return characterClass(part.slice(1, -1));
    // Not one character alone: `[]` is a class that was never closed.
    return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${body}$`, 'u');
}

function characterClass(inside: string): string {
  const isNegated = inside.startsWith('!') && inside.length > 1;
  const characters = isNegated ? inside.slice(1) : inside;
  const safe = characters.replace(/[\\\]^[]/g, '\\$&').replace(/^-|-$/g, '\\-');
  try {
    const expression = `[${isNegated ? '^' : ''}${safe}]`;
    new RegExp(expression, 'u');
    return expression;
  } catch {
    // A range that runs backwards matches nothing.
    return '[^\\s\\S]';
  }
}

/** All conditions must be met; a malformed one never is. Unknown ones and `max_actions_per_hour` are ignored. */
function areConditionsMet(conditions: Readonly<Record<string, unknown>>, ip: string | null, now: Date): boolean {
  const { time_range: range, ip_whitelist: addresses } = conditions;
  if (range !== undefined && range !== null && !isWithin(range, now)) return false;
  if (addresses !== undefined && addresses !== null && !isListed(addresses, ip)) return false;
  return true;
}

/** `{start, end}` as `HH:MM` in UTC: start inclusive, end exclusive, over midnight when start is later than end. */
function isWithin(range: unknown, now: Date): boolean {
  if (typeof range !== 'object' || range === null) return false;
  const { start, end } = range as { start?: unknown; end?: unknown };
  const [from, to] = [minutesOf(start), minutesOf(end)];
  if (from === null || to === null) return false;
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

function minutesOf(text: unknown): number | null {
  const match = typeof text === 'string' ? /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) : null;
  return match ? Number(match[1]) * 60 + Number(match[2]) : null;
}

/** Bad entries are skipped. */
function isListed(addresses: unknown, ip: string | null): boolean {
  if (!Array.isArray(addresses) || ip === null || !ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return addresses.some((entry) => typeof entry === 'string' && isInRange(address, entry.trim()));
}
