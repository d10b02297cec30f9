/** What the fake ban system stores, in the form of its wire (spec 06 section 13). */
export interface BanState {
  users: Record<string, BanStateUser>;
  punishments: BanStatePunishment[];
  settings: Record<string, { value: unknown; type: string; min?: number; max?: number; description: string; category: string }>;
  whitelist: string[];
  nextId: number;
}

export interface BanStateUser {
  unique_ip_count: number;
  total_requests: number;
  limit: number | null;
  blocked_count: number;
  ips: Record<string, Record<string, unknown>>;
}

export interface BanStatePunishment {
  id: number;
  user_id: string;
  username: string;
  reason: string | null;
  punished_at: string;
  enable_at: string;
  ip_count: number;
  limit: number;
  enabled: boolean;
  enabled_at: string | null;
  node_name: string | null;
}

/** Two users, one of them over the limit, and some settings. */
export function firstState(): BanState {
  const address = (ip: string, node: string) => ({
    ip,
    node,
    request_count: 120,
    country_code: 'NL',
    country_name: 'Netherlands',
  });
  return {
    users: {
      'quiet@example.com': {
        unique_ip_count: 1,
        total_requests: 120,
        limit: 3,
        blocked_count: 0,
        ips: { '192.0.2.10': address('192.0.2.10', 'node-1') },
      },
      'busy@example.com': {
        unique_ip_count: 5,
        total_requests: 4_200,
        limit: 3,
        blocked_count: 2,
        ips: { '192.0.2.20': address('192.0.2.20', 'node-1'), '192.0.2.21': address('192.0.2.21', 'node-2') },
      },
    },
    punishments: [],
    settings: {
      max_ips: { value: 3, type: 'int', min: 1, max: 50, description: 'Addresses at the same time', category: 'limits' },
      punishment_minutes: { value: 30, type: 'int', min: 1, max: 1440, description: 'Length of a ban', category: 'limits' },
      notifications_enabled: { value: true, type: 'bool', description: 'Whether users are told', category: 'messages' },
    },
    whitelist: [],
    nextId: 1,
  };
}

/** A text argument as the type of its setting. */
export function settingValue(type: string, text: string): unknown {
  if (type === 'bool') return ['true', '1', 'yes', 'on'].includes(text.toLowerCase());
  return type === 'int' || type === 'float' ? Number(text) : text;
}
