import type { AdminActor } from '../../core/actor.ts';
import { isInAny } from './ip-ranges.ts';

/** Every section with its actions, in the order the interface lists them (spec 01 section 15). */
export const PERMISSION_CATALOGUE = {
  users: ['read', 'edit', 'block', 'delete', 'sync', 'promo_group', 'balance', 'subscription', 'send_offer', 'referral'],
  tickets: ['read', 'reply', 'close', 'settings'],
  stats: ['read', 'export'],
  sales_stats: ['read', 'export'],
  broadcasts: ['read', 'create', 'edit', 'delete', 'send'],
  tariffs: ['read', 'create', 'edit', 'delete'],
  promocodes: ['read', 'create', 'edit', 'delete', 'stats'],
  promo_groups: ['read', 'create', 'edit', 'delete'],
  promo_offers: ['read', 'create', 'edit', 'send'],
  campaigns: ['read', 'create', 'edit', 'delete', 'stats'],
  partners: ['read', 'edit', 'approve', 'revoke', 'settings'],
  withdrawals: ['read', 'approve', 'reject'],
  payments: ['read', 'edit', 'export'],
  approvals: ['read', 'decide'],
  payment_methods: ['read', 'edit'],
  servers: ['read', 'edit'],
  vpnpanel: ['read', 'sync', 'manage'],
  traffic: ['read', 'export'],
  settings: ['read', 'edit'],
  roles: ['read', 'create', 'edit', 'delete', 'assign'],
  audit_log: ['read', 'export'],
  channels: ['read', 'edit'],
  ban_system: ['read', 'edit', 'ban', 'unban'],
  wheel: ['read', 'edit'],
  apps: ['read', 'edit'],
  email_templates: ['read', 'edit'],
  pinned_messages: ['read', 'create', 'edit', 'delete'],
  landings: ['read', 'create', 'edit', 'delete'],
  updates: ['read', 'manage'],
  // Not in the contract.
  personal_data: ['read', 'export', 'erase'],
  backups: ['read', 'create'],
  api_tokens: ['read', 'create', 'edit'],
} as const satisfies Record<string, readonly string[]>;

/** From this level on a role is managed by ADMIN_IDS and ADMIN_EMAILS only. */
export const SUPERADMIN_LEVEL = 999;

/** Level of a config admin; superadmin roles count as this (spec 01 section 12). */
export const TOP_LEVEL = 1_000;

export function isSuperadmin({ isConfigAdmin, level }: Pick<AdminActor, 'isConfigAdmin' | 'level'>): boolean {
  return isConfigAdmin || level >= SUPERADMIN_LEVEL;
}

export interface SystemRole {
  name: string;
  level: number;
  permissions: readonly string[];
  color: string;
  icon: string;
}

/** A token with scopes may do more than the role of who makes it. */
const NOT_WHOLE = ['roles', 'landings', 'api_tokens'];

const wholeSections = Object.keys(PERMISSION_CATALOGUE)
  .filter((section) => !NOT_WHOLE.includes(section))
  .map((section) => `${section}:*`);

/** Roles that exist in every installation. */
export const SYSTEM_ROLES: readonly SystemRole[] = [
  { name: 'Superadmin', level: SUPERADMIN_LEVEL, permissions: ['*:*'], color: '#EF4444', icon: 'shield' },
  {
    name: 'Admin',
    level: 100,
    permissions: [
      ...wholeSections,
      'roles:read',
      'roles:create',
      'roles:edit',
      'roles:assign',
      ...PERMISSION_CATALOGUE.landings.map((action) => `landings:${action}`),
    ],
    color: '#F59E0B',
    icon: 'crown',
  },
  {
    name: 'Moderator',
    level: 50,
    permissions: ['users:read', 'users:edit', 'users:block', 'tickets:*', 'ban_system:*'],
    color: '#3B82F6',
    icon: 'user-shield',
  },
  {
    name: 'Marketer',
    level: 30,
    permissions: [
      'campaigns:*',
      'broadcasts:*',
      'promocodes:*',
      'promo_offers:*',
      'promo_groups:*',
      'stats:read',
      'sales_stats:read',
      'pinned_messages:*',
      'wheel:*',
    ],
    color: '#8B5CF6',
    icon: 'megaphone',
  },
  { name: 'Support', level: 20, permissions: ['tickets:read', 'tickets:reply', 'users:read'], color: '#10B981', icon: 'headset' },
];

/** What a user may do by the roles in effect: assignment active and not expired, role active. */
export interface EffectiveAccess {
  roleIds: number[];
  /** Role names, highest level first. */
  roles: string[];
  permissions: string[];
  /** Highest level, 0 without roles. */
  level: number;
  /** One of the roles demands that a second factor was shown in the session. */
  requiresSecondFactor: boolean;
}

/** @param roles roles in effect, highest level first */
export function accessOf(
  roles: readonly { id: number; name: string; level: number; permissions: string[]; requiresSecondFactor: boolean }[],
): EffectiveAccess {
  return {
    roleIds: roles.map((role) => role.id),
    roles: roles.map((role) => role.name),
    permissions: [...new Set(roles.flatMap((role) => role.permissions))],
    level: roles[0]?.level ?? 0,
    requiresSecondFactor: roles.some((role) => role.requiresSecondFactor),
  };
}

export const NO_ACCESS: EffectiveAccess = { roleIds: [], roles: [], permissions: [], level: 0, requiresSecondFactor: false };

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

/** The level that "at or above" compares with. */
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
  for (const policy of policies) {
    if (policy.effect !== 'deny') continue;
    if (policy.roleId !== null && !access.roleIds.includes(policy.roleId)) continue;
    if (!isDenialOf(policy, permission)) continue;
    if (areConditionsMet(policy.conditions, ip, now)) return `Denied by policy: ${policy.name}`;
  }
  return null;
}

/** Whether the patterns of a denial match the permission (`section:action`). */
export function isDenialOf({ resource, actions }: Pick<AccessPolicy, 'resource' | 'actions'>, permission: string): boolean {
  const [section = '', action = ''] = permission.split(':');
  return matchesPattern(resource, section) && actions.some((pattern) => matchesPattern(pattern, action));
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
  if (!Array.isArray(addresses)) return false;
  return isInAny(
    ip,
    addresses.flatMap((entry) => (typeof entry === 'string' ? entry.trim() : [])),
  );
}
