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
} as const satisfies Record<string, readonly string[]>;

/** From this level on a role is managed by ADMIN_IDS and ADMIN_EMAILS only. */
export const SUPERADMIN_LEVEL = 999;

/** Level of a config admin; superadmin roles count as this (spec 01 section 12). */
export const TOP_LEVEL = 1_000;

export interface SystemRole {
  name: string;
  level: number;
  permissions: readonly string[];
  color: string;
  icon: string;
}

const wholeSections = Object.keys(PERMISSION_CATALOGUE)
  .filter((section) => section !== 'roles' && section !== 'landings')
  .map((section) => `${section}:*`);

/** Roles that exist in every installation (spec 01 section 12). */
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
