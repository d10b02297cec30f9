import type { Actor, TokenActor, TokenLimits } from '../../core/actor.ts';
import { refusal } from '../../core/errors.ts';
import { isInAny, isInRange, parseRange } from './ip-ranges.ts';
import { isSuperadmin } from './permissions.ts';

/** Groups of operations of API tokens: their tags, and `balance`, which moves money of users; `feed` is the live feed. */
const GROUPS = [
  ...[
    'auth',
    'backups',
    'balance',
    'ban-notifications',
    'broadcasts',
    'campaigns',
    'contests',
    'feed',
    'health',
    'logs',
    'main-menu',
  ],
  ...['media', 'menu-layout', 'notifications', 'pages', 'partners', 'pinned-messages', 'polls', 'promo-codes', 'promo-groups'],
  ...[
    'promo-offers',
    'servers',
    'settings',
    'stats',
    'subscriptions',
    'support',
    'transactions',
    'users',
    'vpnpanel',
    'webhooks',
  ],
  'welcome-texts',
];
/** Groups that have no operation of the other kind. */
const ONLY_READ = ['feed', 'health', 'logs', 'stats', 'transactions'];
const ONLY_WRITTEN = ['balance', 'ban-notifications'];

/** Every scope that a token can have; a test compares them with the operations. */
export const TOKEN_SCOPES = GROUPS.flatMap((group) => [
  ...(ONLY_WRITTEN.includes(group) ? [] : [`${group}:read`]),
  ...(ONLY_READ.includes(group) ? [] : [`${group}:write`]),
]);

/** Of the live feed `/ws`. */
export const FEED_SCOPE = 'feed:read';

const missing = (scope: string) => ({
  ...{ code: 'scope_missing', message: 'This API token lacks a scope that the operation needs' },
  scope,
});

export const scopeMissing = refusal('scope_missing', 403, missing('users:write'), (scope: string) => ({
  detail: missing(scope),
}));

/** @throws AppError 403 `scope_missing` with the scope */
export function requireScope({ limits }: TokenActor, scope: string): void {
  const scopes = limits?.scopes ?? null;
  if (scopes !== null && !scopes.includes(scope)) throw scopeMissing(scope);
}

export const addressNotAllowed = refusal('address_not_allowed', 403, 'This API token is not valid from this address');

/** @param ip null = unknown, which is in no range. @throws AppError 403 `address_not_allowed` */
export function requireAddress(allowed: readonly string[] | null, ip: string | null): void {
  if (allowed !== null && !isInAny(ip, allowed)) throw addressNotAllowed();
}

export const tokenBeyondLimits = refusal(
  'token_beyond_limits',
  403,
  'An API token can only make or change tokens that may do no more than itself: scopes, addresses and end',
);

/** As much as everything: a backup has secrets and can bring other tokens. */
const AS_MUCH: readonly string[] = ['backups:read', 'backups:write'];

export const fullTokenOfSuperadmin = refusal(
  'full_token_of_superadmin',
  403,
  'API tokens that may do everything are made and changed by superadmins only',
);

/**
 * A token with limits can give nobody more than it has, an administrator who is no superadmin not everything; all other actors can.
 * @throws AppError 403 `token_beyond_limits` | 403 `full_token_of_superadmin`
 */
export function requireWithinLimits(actor: Actor, wanted: TokenLimits): void {
  if (actor.kind === 'admin' && !isSuperadmin(actor) && (wanted.scopes ?? AS_MUCH).some((scope) => AS_MUCH.includes(scope)))
    throw fullTokenOfSuperadmin();
  if (actor.kind !== 'token' || actor.limits === undefined) return;
  const { limits } = actor;
  const isWithin =
    isEach(limits.scopes, wanted.scopes, (scope, scopes) => scopes.includes(scope)) &&
    isEach(limits.allowedAddresses, wanted.allowedAddresses, (range, ranges) => ranges.some((outer) => isPartOf(range, outer))) &&
    (limits.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= limits.expiresAt));
  if (!isWithin) throw tokenBeyondLimits();
}

function isEach(
  allowed: readonly string[] | null,
  wanted: readonly string[] | null,
  isAllowed: (value: string, allowed: readonly string[]) => boolean,
): boolean {
  return allowed === null || wanted?.every((value) => isAllowed(value, allowed)) === true;
}

function isPartOf(range: string, outer: string): boolean {
  const [inner, around] = [parseRange(range), parseRange(outer)];
  return inner !== null && around !== null && inner[1] >= around[1] && isInRange(inner[0], outer);
}
